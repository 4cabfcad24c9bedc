// Sinusoidal positions as a picture: a row for each dimension, a column for each position, and what two columns share.
import { dot, sinusoid } from "./attention.js";
import { ABOUT } from "./given.js";
import { drawn, element, facts, fixed, framed, grouped, matrix, pointed, setAttributes, setText, slider } from "./parts.js";

const POSITIONS = 128;
const [WIDE, TALL] = [640, 150];
const TICKS = [0, 20, 40, 60, 80, 100, 120].map((p) => [(p + 0.5) / POSITIONS, p]);
const LIGHT = [244, 246, 250];
const DARK = [13, 44, 92];

export const explorer = {
  ...ABOUT,
  note: "Point into the picture to move p, and into the curve to set k. The two outlined columns are the two positions that are compared.",
  start: { width: 64, position: 20, offset: 16 },
  limits: { width: [4, 128, 2], position: [0, POSITIONS - 1, 1], offset: [0, POSITIONS - 1, 1] },
  tidy: (state) => ({ ...state, offset: Math.min(state.offset, POSITIONS - 1 - state.position) }),

  numbers({ width, position, offset }) {
    const rows = Array.from({ length: POSITIONS }, (_, p) => sinusoid(p, width));
    const shared = rows.map((row) => dot(rows[0], row)); // by offset; where it begins does not matter
    return {
      at: rows[position], then: rows[position + offset], product: dot(rows[position], rows[position + offset]), shared,
      shortest: 2 * Math.PI, longest: 2 * Math.PI * 10000 ** ((width - 2) / width),
    };
  },

  finding({ width, position, offset }, { product, shared, longest }) {
    const closer = shared.slice(0, offset).reduce((least, value) => Math.min(least, value), Infinity);
    const wobble = closer < product ? "closer positions can share less: the curve wobbles" : "every closer pair shares more";
    return `With d_model = ${width}, positions ${position} and ${position + offset} have the dot product ${fixed(product)}, as does every pair that is ` +
      `${offset} apart; ${wobble}. The wavelengths run from 6.28 to ${grouped(longest, longest < 1000 ? 2 : 0)} positions.`;
  },

  build(set) {
    let now = explorer.start;
    const width = slider({ label: "d_model", min: 4, max: 128, step: 2, move: (width) => set({ width }) });
    const position = slider({ label: "Position p", min: 0, max: POSITIONS - 1, move: (position) => set({ position }) });
    const offset = slider({ label: "Offset k", min: 0, max: POSITIONS - 1, move: (offset) => set({ offset }) });
    const canvas = element("canvas", { role: "img" });
    const marks = [element("span", { class: "column" }), element("span", { class: "column second" })];
    const picture = element("div", { class: "picture" }, canvas, ...marks);
    pointed(picture, (share) => set({ position: Math.floor(share * POSITIONS) }));
    const image = framed(picture, TICKS);

    const curve = drawn("path", { class: "curve" });
    const dropped = drawn("line", { class: "shadow", y2: TALL });
    const point = element("span", { class: "point" });
    const range = element("figcaption");
    const drawing = drawn("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, preserveAspectRatio: "none", role: "img", "aria-label": "Dot product of two positions by their offset" }, dropped, curve);
    const surface = element("div", { class: "picture low" }, drawing, point);
    pointed(surface, (share) => set({ offset: Math.floor(share * POSITIONS) }));
    const graph = framed(surface, TICKS);
    const shown = matrix({ caption: "The first four dimensions", rows: ["p", "p + k"], columns: ["0 sin", "1 cos", "2 sin", "3 cos"], heat: false });
    const told = facts(["PE(p) · PE(p + k)", "the same from position 0", "length of every vector", "shortest wavelength", "longest wavelength"]);

    const node = element("div", {},
      element("div", { class: "controls" }, width.node, position.node, offset.node),
      element("figure", {},
        element("figcaption", { class: "legend" }, "Down: the dimensions. Across: positions 0 to 127. ", element("span", { class: "ramp", "aria-hidden": "true" }), " light −1, dark +1"),
        image.node),
      element("figure", {}, range, graph.node),
      element("div", { class: "sides" }, told.node, shown.node),
    );
    const update = (state, n) => {
      if (canvas.height !== state.width || now === explorer.start) paint(canvas, state.width);
      now = state;
      canvas.setAttribute("aria-label", `Positions 0 to 127 by ${state.width} dimensions. The top rows flip sign every few positions, the bottom rows hardly change.`);
      width.show(state.width);
      position.show(state.position);
      offset.show(state.offset);
      [state.position, state.position + state.offset].forEach((p, i) => (marks[i].style.left = `${((p / POSITIONS) * 100).toFixed(3)}%`));
      const [low, high] = [Math.min(...n.shared), state.width / 2];
      const across = (k) => ((k + 0.5) / POSITIONS) * WIDE;
      const up = (value) => TALL - 12 - ((value - low) / (high - low)) * (TALL - 24);
      curve.setAttribute("d", n.shared.map((value, k) => `${k ? "L" : "M"}${across(k).toFixed(1)},${up(value).toFixed(1)}`).join(" "));
      point.style.left = `${((100 * across(state.offset)) / WIDE).toFixed(3)}%`;
      point.style.top = `${((100 * up(n.product)) / TALL).toFixed(3)}%`;
      image.update([[0.5 / state.width, 0], [1 - 0.5 / state.width, state.width - 1]]);
      graph.update([high, low].map((value) => [up(value) / TALL, fixed(value, 1)]));
      setAttributes(dropped, { x1: across(state.offset), x2: across(state.offset), y1: up(n.product) });
      setText(range, `Dot product by offset k, 0 to 127: ${fixed(n.product)} at k = ${state.offset}, between ${fixed(high, 2)} at the top and ${fixed(low, 2)} at the bottom`);
      shown.update([n.at.slice(0, 4), n.then.slice(0, 4)]);
      shown.renameRow(0, String(state.position));
      shown.renameRow(1, String(state.position + state.offset));
      told.update([fixed(n.product, 6), fixed(n.shared[state.offset], 6), `${fixed(Math.sqrt(state.width / 2), 6)} = √(d/2)`,
        `${fixed(n.shortest, 2)} positions`, `${grouped(n.longest, 2)} positions`]);
    };
    return { node, update };
  },
};

/** One pixel for each number, stretched by the page. One dark colour, so that it reads the same in grey. */
function paint(canvas, width) {
  [canvas.width, canvas.height] = [POSITIONS, width];
  const context = canvas.getContext("2d");
  const image = context.createImageData(POSITIONS, width);
  for (let p = 0; p < POSITIONS; p++) {
    sinusoid(p, width).forEach((value, j) => {
      const share = (value + 1) / 2;
      const first = 4 * (j * POSITIONS + p);
      for (let c = 0; c < 3; c++) image.data[first + c] = LIGHT[c] + (DARK[c] - LIGHT[c]) * share;
      image.data[first + 3] = 255;
    });
  }
  context.putImageData(image, 0, 0);
}
