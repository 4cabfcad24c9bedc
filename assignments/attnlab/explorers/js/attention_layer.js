// One attention layer, stage by stage: every number of section 7.2, with two switches that break it on purpose.
import { head } from "./attention.js";
import { ABOUT, FEATURES, TOKENS, W_K, W_Q, W_V, X } from "./given.js";
import { arithmetic, button, choice, element, fixed, largest, matrix, slider, stack, toggle, vector } from "./parts.js";

const STAGES = ["1 Project", "2 Score", "3 Scale", "4 Softmax", "5 Average"];

/** The row of one token, worked out on paper. */
const WORKED = [
  ({ token, lengthen }, { Q, K, V }) => [
    `Each number of ${TOKENS[token]} times its row of a matrix, summed:`,
    `query = ${lengthen === 1 ? "" : `${fixed(lengthen, 2)} × (`}${mixed(X[token], W_Q)}${lengthen === 1 ? "" : ")"} = ${vector(Q[token])}`,
    `key = ${mixed(X[token], W_K)} = ${vector(K[token])}`,
    `value = ${mixed(X[token], W_V)} = ${vector(V[token])}`,
  ],
  ({ token }, { Q, K, scores }) => [
    `Each score is the query of ${TOKENS[token]} times a key:`,
    ...TOKENS.map((name, j) => {
      const terms = Q[token].map((q, c) => `${fixed(q, 2)} × ${fixed(K[j][c], 2)}`).join(" + ");
      return `${name}: ${terms} = ${fixed(scores[token][j], 2)}`;
    }),
  ],
  ({ token, scaled, causal }, { scores, readied }) => [
    scaled ? "√d_k = √2 = 1.4142; each score of the row is divided by it:" : "Not divided: the scores stay as they are.",
    ...TOKENS.map((name, j) => {
      if (causal && j > token) return `${name}: later than ${TOKENS[token]}, so −∞`;
      return `${name}: ${fixed(scores[token][j], 2)}${scaled ? " / 1.4142" : ""} = ${fixed(readied[token][j])}`;
    }),
  ],
  ({ token }, { readied, weights }) => {
    const powers = readied[token].map(Math.exp);
    const sum = powers.reduce((a, b) => a + b, 0);
    return [
      `exp of the row: ${vector(powers, 4)}`,
      `their sum: ${fixed(sum)}`,
      `each over the sum: ${vector(weights[token], 4)}`,
      `sum of the weights: ${fixed(weights[token].reduce((a, b) => a + b, 0), 3)}`,
    ];
  },
  ({ token }, { V, weights, output }) => [
    ...TOKENS.map((name, j) => `${j ? "+" : "\u2007"} ${fixed(weights[token][j])} × ${vector(V[j])} from ${name}`),
    `= ${vector(output[token], 4)}`,
  ],
];

const SAID = [
  ({ token }, { Q, K, V }) =>
    `${TOKENS[token]} asks with the query ${vector(Q[token])}, advertises the key ${vector(K[token])} and would hand over the value ${vector(V[token])}.`,
  ({ token }, { scores }, best) =>
    `The query of ${TOKENS[token]} meets every key; its highest score is ${fixed(scores[token][best], 2)}, with ${TOKENS[best]}.`,
  ({ token, scaled, causal }, { readied }, best) =>
    `${scaled ? "Divided by √2" : "Left undivided"}, the highest score of ${TOKENS[token]} is ${fixed(readied[token][best])}, with ${TOKENS[best]}.` +
    (causal ? ` ${hidden(token)}` : ""),
  ({ token, causal }, { weights }, best) =>
    `${TOKENS[token]} puts ${weights[token].map((w, j) => `${fixed(w)} on ${TOKENS[j]}`).join(", ")}; the largest is ${TOKENS[best]}.` +
    (causal ? ` ${hidden(token)}` : ""),
  ({ token }, { V, output }) =>
    `${TOKENS[token]} came with the value ${vector(V[token])} and leaves with ${vector(output[token], 4)}, mixed from all that it may see.`,
];

function mixed(row, W) {
  return row.map((x, i) => `${fixed(x, 1)} ${vector(W[i], 1)}`).join(" + ");
}

function hidden(token) {
  const later = TOKENS.slice(token + 1);
  return later.length ? `The mask hides ${later.join(" and ")}.` : "The mask hides nothing from the last token.";
}

export const explorer = {
  ...ABOUT,
  note: "Choose a row to see it worked out. The matrices are set by hand, with d_model = 4 and d_k = 2; longer queries stand in for a wide head, whose scores are larger.",
  start: { stage: 4, token: 2, causal: false, scaled: true, lengthen: 1 },
  limits: { stage: [1, STAGES.length, 1], token: [0, TOKENS.length - 1, 1], lengthen: [0.05, 16] },

  numbers: ({ causal, scaled, lengthen }) => head(X, W_Q, W_K, W_V, { causal, divide: scaled, lengthen }),

  finding(state, numbers) {
    const best = largest(state.stage === 2 ? numbers.scores[state.token] : numbers.readied[state.token]);
    return `Stage ${STAGES[state.stage - 1]}: ${SAID[state.stage - 1](state, numbers, best)}`;
  },

  build(set) {
    let now = 1;
    const choose = (token) => set({ token });
    const flow = (...parts) => element("div", { class: "tables flow" }, ...parts.map((part) => part.node ?? element("span", { class: "sign", "aria-hidden": "true" }, part)));
    const table = (caption, columns, options = {}) => matrix({ caption, rows: TOKENS, columns, choose, heat: false, ...options });
    const stages = choice({ label: "Stage", options: STAGES.map((name, i) => [String(i + 1), name]), pick: (stage) => set({ stage: Number(stage) }) });
    const causal = toggle({ label: "Causal mask", flip: (causal) => set({ causal }) });
    const scaled = toggle({ label: "Divide by √dₖ", flip: (scaled) => set({ scaled }) });
    const lengthen = slider({ label: "Queries made longer by", min: 0.05, max: 16, step: 0.01, log: true, unit: "×", move: (lengthen) => set({ lengthen }) });
    const inputs = table("X: what comes in", FEATURES, { digits: 1 });
    const output = table("AV: after attention", ["agent", "object"]);
    // A table stands in two stages, as what comes out and as what goes in: an element can only be in one place.
    const twice = (make) => [make(), make()];
    const queries = twice(() => table("Q: queries", ["agent", "object"], { digits: 2 }));
    const keys = twice(() => table("K: keys", ["agent", "object"], { digits: 2 }));
    const values = twice(() => table("V: values", ["agent", "object"], { digits: 2 }));
    const scores = twice(() => table("QKᵀ: scores", TOKENS, { digits: 2 }));
    const readied = twice(() => table("What the softmax gets", TOKENS));
    const weights = twice(() => table("A: weights, each row sums to 1", TOKENS, { heat: true }));
    const panels = stack(
      flow(inputs, "→", queries[0], keys[0], values[0]),
      flow(queries[1], "·", keys[1], "→", scores[0]),
      flow(scores[1], "→", readied[0]),
      flow(readied[1], "→", weights[0]),
      flow(weights[1], "×", values[1], "→", output),
    );
    const worked = arithmetic(4);
    const step = (by) => set({ stage: now + by });
    const node = element("div", {},
      element("div", { class: "controls" }, stages.node, element("div", { class: "row" }, button("← Back", () => step(-1)), button("Next →", () => step(1))),
        causal.node, scaled.node, lengthen.node),
      panels.node,
      worked.node,
    );
    const update = (state, n) => {
      now = state.stage;
      const row = state.token;
      const later = (i, j) => state.causal && j > i;
      stages.show(String(state.stage));
      causal.show(state.causal);
      scaled.show(state.scaled);
      lengthen.show(Number(state.lengthen.toFixed(4)));
      inputs.update(X, { row });
      output.update(n.output, { row });
      [[queries, n.Q], [keys, n.K], [values, n.V], [scores, n.scores]].forEach(([pair, table]) => pair.forEach((one) => one.update(table, { row })));
      [[readied, n.readied], [weights, n.weights]].forEach(([pair, table]) => pair.forEach((one) => one.update(table, { row, blocked: later })));
      panels.show(state.stage - 1);
      worked.update(WORKED[state.stage - 1](state, n));
    };
    return { node, update };
  },
};
