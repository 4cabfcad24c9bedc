// What a head looks at: three hand-made patterns over one sentence, and how far the pronoun leans.
import { entropy, masked, causalMask, softmax } from "./attention.js";
import { ABOUT, HEADS, SENTENCE, LEAN } from "./given.js";
import { choice, element, facts, fixed, largest, matrix, setText, slider, toggle } from "./parts.js";

const NAMES = Object.keys(HEADS);

/** The table of a head: shares of 100, and in the pronoun's row what it gives to the two nouns. */
function table({ head, coffee }) {
  return HEADS[head].map((row, i) =>
    row.map((share, j) => {
      if (head !== LEAN.head || i !== LEAN.row) return share / 100;
      return j === LEAN.to ? coffee : j === LEAN.from ? LEAN.together - coffee : share / 100;
    }),
  );
}

function weights(state) {
  const free = table(state);
  if (!state.causal) return free;
  return masked(free.map((row) => row.map(Math.log)), causalMask(free.length)).map(softmax);
}

export const explorer = {
  ...ABOUT,
  note: "The weights are made by hand and come from no trained model. The map does not know what the last word means: type one, and set the lean that you would expect.",
  start: { head: LEAN.head, token: LEAN.row, causal: false, coffee: 0.46, ending: SENTENCE.at(-1) },
  limits: { head: NAMES, token: [0, SENTENCE.length - 1, 1], coffee: [0, LEAN.together] },

  numbers(state) {
    const all = weights(state);
    const row = all[state.token];
    return { weights: all, row, entropy: entropy(row), spread: Math.exp(entropy(row)), largest: largest(row) };
  },

  finding(state, { row, spread, largest }) {
    const words = [...SENTENCE.slice(0, -1), state.ending || "…"];
    const rest = row.map((weight, j) => [weight, j]).filter(([, j]) => j !== largest).sort((a, b) => b[0] - a[0]);
    const [second, at] = rest[0];
    const seen = state.causal ? "Behind the causal mask, “" : "“";
    const lean = second > 0 ? `, then ${fixed(second, 2)} on “${words[at]}”` : "";
    return `${seen}${words[state.token]}” puts its largest weight, ${fixed(row[largest], 2)}, on “${words[largest]}”${lean}. ` +
      `Its row is as wide as an even split over ${fixed(spread, 1)} ${fixed(spread, 1) === "1.0" ? "token" : "tokens"}.`;
  },

  build(set) {
    const heads = choice({ label: "Head", options: NAMES.map((name) => [name, name]), pick: (head) => set({ head }) });
    const causal = toggle({ label: "Causal mask", flip: (causal) => set({ causal }) });
    const lean = slider({
      label: "Pronoun head, row “it”: weight on coffee (robot gets the rest of 0.80)", min: 0, max: LEAN.together, step: 0.01,
      move: (coffee) => set({ coffee, head: LEAN.head, token: LEAN.row }),
    });
    const ending = element("input", {
      type: "text", maxlength: 14, "aria-label": "Last word of the sentence", oninput: () => set({ ending: ending.value }),
    });
    const words = SENTENCE.map((word, i) => {
      const text = element("span", { class: "word" }, word);
      const number = element("span", { class: "number" });
      const node = element("button", { type: "button", onclick: () => set({ token: i }) }, text, number);
      return { text, number, node };
    });
    const map = matrix({
      caption: "A row looks, a column is looked at", rows: SENTENCE, columns: SENTENCE, digits: 2, dense: true,
      choose: (token) => set({ token }),
    });
    const told = facts(["largest weight of the row", "the row's weights sum to", "entropy of the row", "as wide as an even split over"]);
    const node = element("div", {},
      element("div", { class: "controls" }, heads.node, causal.node),
      element("p", { class: "caption above" }, "Choose the token that looks; the numbers are its weights"),
      element("div", { class: "sentence", role: "group", "aria-label": "The token that looks" }, ...words.map((word) => word.node)),
      element("div", { class: "sides" },
        element("div", {}, lean.node, element("div", { class: "controls" }, element("label", { class: "text" }, "Last word ", ending)), told.node),
        map.node),
    );
    const update = (state, { weights, row, entropy, spread, largest }) => {
      heads.show(state.head);
      causal.show(state.causal);
      lean.show(Number(state.coffee.toFixed(4)));
      if (ending.value !== state.ending) ending.value = state.ending;
      const last = state.ending || "…";
      words.forEach(({ text, number, node }, i) => {
        setText(text, i === SENTENCE.length - 1 ? last : SENTENCE[i]);
        setText(number, fixed(row[i], 2));
        node.style.setProperty("--share", row[i].toFixed(4));
        node.setAttribute("aria-pressed", i === state.token);
      });
      map.rename(SENTENCE.length - 1, last);
      map.renameRow(SENTENCE.length - 1, last);
      told.update([`${fixed(row[largest], 2)} on “${largest === SENTENCE.length - 1 ? last : SENTENCE[largest]}”`,
        fixed(row.reduce((a, b) => a + b, 0), 2), `${fixed(entropy)} nats`, `${fixed(spread, 2)} tokens`]);
      map.update(weights, { row: state.token, blocked: (i, j) => state.causal && j > i });
    };
    return { node, update };
  },
};
