// Which token may look at which: three masks, cell by cell, and what is left of the weights behind them.
import { causalMask, matmul, masked, softmax, transpose } from "./attention.js";
import { ABOUT, TOKENS, TRANSLATED, W_K, W_Q, X } from "./given.js";
import { choice, element, facts, fixed, matrix, stack, toggle } from "./parts.js";

const KINDS = { bidirectional: "Encoder: everything", causal: "Decoder: causal", crossed: "Encoder–decoder" };
const USES = {
  bidirectional: "a whole text that is there: to classify it, to embed it",
  causal: "a text that goes on: to write the next token",
  crossed: "one text from another: to translate, to summarise",
};
const ALL = [...TOKENS, ...TRANSLATED.words];
const n = TOKENS.length;

/** Rows may read columns. In the third, what is translated reads all of the source, and of itself what came before. */
function allowed(kind) {
  const full = X.map(() => X.map(() => true));
  if (kind === "bidirectional") return full;
  if (kind === "causal") return causalMask(n);
  const none = X.map(() => false);
  return [...full.map((row) => [...row, ...none]), ...causalMask(n).map((row) => [...X.map(() => true), ...row])];
}

/** The scores of the worked example. A translated word has the embedding of the word that it stands for. */
function scores(kind, equal) {
  const rows = kind === "crossed" ? [...X, ...TRANSLATED.of.map((i) => X[i])] : X;
  if (equal) return rows.map(() => rows.map(() => 0));
  return matmul(matmul(rows, W_Q), transpose(matmul(rows, W_K))).map((row) => row.map((score) => score / Math.sqrt(2)));
}

/** Cross-attention and self-attention are two softmaxes: a row is split into blocks of `n`. */
function inBlocks(row, fn) {
  return Array.from({ length: row.length / n }, (_, b) => fn(row.slice(b * n, (b + 1) * n), b * n)).flat();
}

export const explorer = {
  ...ABOUT,
  note: "Hatched: not allowed, and exactly 0. The scores are those of the worked example; cat, drank and milk borrow the embeddings of the words that they translate, and their rows hold two attentions, one over the source and one over themselves.",
  start: { kind: "bidirectional", token: 0, equal: false, after: false, flipped: "" },
  limits: { kind: Object.keys(KINDS), token: [0, ALL.length - 1, 1] },
  tidy(state) {
    const size = state.kind === "crossed" ? ALL.length : n;
    const cells = state.flipped.split(" ").filter((cell) => /^\d\d$/.test(cell) && Number(cell[0]) < size && Number(cell[1]) < size);
    return { ...state, token: Math.min(state.token, size - 1), flipped: cells.join(" ") };
  },

  numbers({ kind, equal, after, flipped }) {
    const cells = new Set(flipped.split(" "));
    const mask = allowed(kind).map((row, i) => row.map((may, j) => may !== cells.has(`${i}${j}`)));
    const raw = scores(kind, equal);
    const weights = raw.map((row, i) => inBlocks(row, (block, first) => {
      const may = mask[i].slice(first, first + n);
      if (!may.includes(true) && allowed(kind)[i].slice(first, first + n).every((one) => !one)) return block.map(() => 0); // no such attention
      if (after) return softmax(block).map((weight, j) => (may[j] ? weight : 0));
      return softmax(masked([block], [may])[0]);
    }));
    return { mask, weights, sums: weights.map((row) => row.reduce((a, b) => a + b, 0)), open: mask.flat().filter(Boolean).length };
  },

  finding({ kind, token, after }, { mask, weights, sums, open }) {
    const seen = mask[token].flatMap((may, j) => (may ? [`${ALL[j]} (${fixed(weights[token][j])})`] : []));
    const list = seen.length ? `may look at ${seen.join(", ")}` : "may look at nothing";
    const sum = sums[token];
    const whole = kind === "crossed" && token >= n ? 2 : 1;
    let about = whole === 2 ? "Its two attentions sum to 1 each." : "Its weights sum to 1.";
    if (Number.isNaN(sum)) about = "A softmax over no keys at all does not exist: 0 divided by 0.";
    else if (Math.abs(sum - whole) > 1e-9) about = `Its weights sum to ${fixed(sum)}, not ${whole}: zeroing after the softmax leaves a hole.`;
    return `${ALL[token]} ${list}. ${about} ${after ? "Zeroed after the softmax" : "Masked before the softmax"}, ${open} of ${mask.length ** 2} cells are open.`;
  },

  build(set) {
    let now = explorer.start;
    const kinds = choice({ label: "Mask", options: Object.entries(KINDS), pick: (kind) => set({ kind, flipped: "", token: kind === "crossed" ? n : 0 }) });
    const equal = toggle({ label: "All scores equal", flip: (equal) => set({ equal }) });
    const after = toggle({ label: "Zero after the softmax (a mistake)", flip: (after) => set({ after }) });
    const press = (i, j) => {
      const cells = new Set(now.flipped.split(" ").filter(Boolean));
      if (!cells.delete(`${i}${j}`)) cells.add(`${i}${j}`);
      set({ flipped: [...cells].sort().join(" "), token: i });
    };
    const says = (i, j, value) => `${ALL[i]} looks at ${ALL[j]}: ${shown.mask[i][j] ? fixed(value) : "not allowed"}`;
    let shown = { mask: [] };
    const table = (names, dense) => matrix({
      caption: "A row looks, a column is looked at. Press a cell to open or close it.", rows: names, columns: names, digits: dense ? 2 : 4, dense, big: !dense,
      choose: (token) => set({ token }), press, says,
    });
    const [small, large] = [table(TOKENS, false), table(ALL, true)];
    const panels = stack(small.node, large.node);
    const told = facts(["open cells", "sums of the rows", "made for"]);
    const node = element("div", {},
      element("div", { class: "controls" }, kinds.node, equal.node, after.node),
      element("div", { class: "sides" }, panels.node, told.node),
    );
    const update = (state, numbers) => {
      now = state;
      shown = numbers;
      kinds.show(state.kind);
      equal.show(state.equal);
      after.show(state.after);
      const which = state.kind === "crossed" ? 1 : 0;
      panels.show(which);
      told.update([`${numbers.open} of ${numbers.mask.length ** 2}`, numbers.sums.map((sum) => fixed(sum, 2)).join(", "), USES[state.kind]]);
      [small, large][which].update(numbers.weights, { row: state.token, blocked: (i, j) => !numbers.mask[i][j] });
    };
    return { node, update };
  },
};
