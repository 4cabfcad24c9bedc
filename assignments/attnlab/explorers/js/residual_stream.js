// The residual stream: three vectors of four numbers on their way through one block; each part of it can be left out.
import { add, detectors, head, layerNorm, matmul, norm } from "./attention.js";
import { ABOUT, B_1, B_2, DETECTORS, FEATURES, HEAD_1, HEAD_2, TOKENS, W_1, W_2, W_O, X } from "./given.js";
import { button, choice, element, fixed, matrix, setText, stack, toggle } from "./parts.js";

const STAGES = ["1 As it arrives", "2 Attention added", "3 Normalised copy", "4 Feed-forward added"];
const [LOW, HIGH] = [-1.5, 2.5];

export const explorer = {
  ...ABOUT,
  note: "Bars run from −1.5 to 2.5. Hatched, with a sign: what this stage added. Attention reads the embeddings unnormalised here, as in the worked example; the second normalisation is in its place.",
  start: { stage: 1, head1: true, head2: true, feedForward: true },
  limits: { stage: [1, STAGES.length, 1] },

  numbers({ stage, head1, head2, feedForward }) {
    const on = [head1, head2];
    const heads = [HEAD_1, HEAD_2].map((projections) => head(X, ...projections));
    const joined = X.map((_, i) => heads.flatMap(({ output }, h) => output[i].map((value) => (on[h] ? value : 0))));
    const attention = matmul(joined, W_O);
    const middle = add(X, attention);
    const normalised = layerNorm(middle);
    const fired = detectors(normalised, W_1, B_1);
    const written = matmul(fired, W_2).map((row) => row.map((value, c) => (feedForward ? value + B_2[c] : 0)));
    const block = add(middle, written);
    const shown = [X, middle, normalised, block][stage - 1];
    const change = [null, attention, null, written][stage - 1];
    return { weights: heads.map((one) => one.weights), attention, middle, normalised, fired, written, block, shown, change, lengths: shown.map(norm) };
  },

  finding({ stage, head1, head2, feedForward }, { attention, lengths, fired }) {
    const long = TOKENS.map((name, i) => `${name} ${fixed(lengths[i], 2)}`).join(", ");
    const count = fired.flat().filter((value) => value > 0).length;
    const said = [
      `each token is only itself; içti has no animate content. Lengths: ${long}.`,
      head1 || head2
        ? `içti gains ${fixed(attention[2][0])} animate and ${fixed(attention[2][1])} liquid, the nouns ${fixed(attention[0][2])} action. Lengths: ${long}.`
        : `with both heads off attention adds nothing, and the stream passes unchanged. Lengths: ${long}.`,
      `the feed-forward layer reads a copy in which every row has mean 0 and variance 1; the stream itself stays as it was. Lengths: ${long}.`,
      feedForward
        ? `${count} of ${fired.flat().length} detector readings are above 0 and write into the stream. Lengths: ${long}.`
        : `with the feed-forward layer off nothing is added. Lengths: ${long}.`,
    ][stage - 1];
    return `Stage ${STAGES[stage - 1]}: ${said}`;
  },

  build(set) {
    let now = 1;
    const stages = choice({ label: "Stage", options: STAGES.map((name, i) => [String(i + 1), name]), pick: (stage) => set({ stage: Number(stage) }) });
    const parts = [["head1", "Head 1 (arguments)"], ["head2", "Head 2 (verb)"], ["feedForward", "Feed-forward"]].map(([key, label]) => ({
      key, ...toggle({ label, flip: (on) => set({ [key]: on }) }),
    }));
    const cards = TOKENS.map(card);
    const firing = matrix({ caption: "Detectors: what the normalised copy of stage 3 sets off (0 is silent)", rows: DETECTORS, columns: TOKENS, heat: true });
    const step = (by) => set({ stage: now + by });
    const looking = ["Head 1: weights", "Head 2: weights"].map((caption) => matrix({ caption, rows: TOKENS, columns: TOKENS }));
    const adding = matrix({ caption: "What attention adds", rows: TOKENS, columns: FEATURES, heat: false });
    const sign = element("span", { class: "sign", "aria-hidden": "true" }, "→");
    const aside = stack(element("div", { class: "tables flow" }, ...looking.map((one) => one.node), sign, adding.node), firing.node);
    const node = element("div", {},
      element("div", { class: "controls" }, stages.node, element("div", { class: "row" }, button("← Back", () => step(-1)), button("Next →", () => step(1))),
        element("fieldset", {}, element("legend", {}, "Switched on"), element("div", { class: "row switches" }, ...parts.map((part) => part.node)))),
      element("div", { class: "sides" }, element("div", { class: "cards" }, ...cards.map((one) => one.node)), aside.node),
    );
    const update = (state, n) => {
      now = state.stage;
      stages.show(String(state.stage));
      parts.forEach(({ key, show }) => show(state[key]));
      cards.forEach((one, i) => one.update(n.shown[i], n.change?.[i], n.lengths[i]));
      firing.update(DETECTORS.map((_, d) => TOKENS.map((_, i) => n.fired[i][d])), { blocked: (d, i) => n.fired[i][d] === 0 });
      looking.forEach((one, h) => one.update(n.weights[h], { blocked: () => !state[`head${h + 1}`] }));
      adding.update(n.attention);
      aside.show(state.stage < 3 ? 0 : 1);
    };
    return { node, update };
  },
};

/** One token: a bar for each feature, from zero to its value, the last stage's part of it hatched. */
function card(name) {
  const place = (value) => `${(((Math.min(HIGH, Math.max(LOW, value)) - LOW) / (HIGH - LOW)) * 100).toFixed(2)}%`;
  const length = element("span", { class: "where" });
  const rows = FEATURES.map((feature) => {
    const [bar, added] = [element("span", { class: "bar" }), element("span", { class: "bar added" })];
    const [value, change] = [element("span", { class: "number" }), element("span", { class: "number change" })];
    const zero = element("span", { class: "zero" });
    zero.style.left = place(0);
    const node = element("div", { class: "feature" }, element("span", {}, feature), element("span", { class: "track", "aria-hidden": "true" }, bar, added, zero), value, change);
    return { node, bar, added, value, change };
  });
  const span = (bar, from, to) => {
    bar.style.left = place(Math.min(from, to));
    bar.style.width = `calc(${place(Math.max(from, to))} - ${place(Math.min(from, to))})`;
  };
  const update = (values, changes, long) => {
    setText(length, `length ${fixed(long, 2)}`);
    rows.forEach(({ bar, added, value, change }, c) => {
      const before = values[c] - (changes?.[c] ?? 0);
      span(bar, 0, before);
      span(added, before, values[c]);
      setText(value, fixed(values[c]));
      setText(change, changes ? `${changes[c] < 0 ? "" : "+"}${fixed(changes[c])}` : "\u00a0");
    });
  };
  return { node: element("div", { class: "card", role: "group", "aria-label": name }, element("p", {}, element("strong", {}, name), " ", length), ...rows.map((row) => row.node)), update };
}
