// Queries and keys in the plane: drag an arrow, and see the dot product as a shadow on the query.
import { dot, norm, softmax } from "./attention.js";
import { ABOUT, KEYS, QUERIES, TOKENS } from "./given.js";
import { choice, drawn, element, fixed, fresh, largest, matrix, setAttributes, setText, vector } from "./parts.js";

const [LOW, HIGH, SIZE] = [-1.5, 2.5, 440];
const NUDGE = 0.05;

const at = (value) => ((value - LOW) / (HIGH - LOW)) * SIZE;
const x = (value) => at(value).toFixed(2);
const y = (value) => (SIZE - at(value)).toFixed(2);
const grid = (value) => Math.round(value / NUDGE) * NUDGE; // what a pointer can hit

export const explorer = {
  ...ABOUT,
  note: "Drag a tip, or focus it and use the arrow keys (Shift for larger steps). ● query, ■ keys. The dashed line drops each key onto the query: how far that shadow reaches, times the length of the query, is the dot product.",
  start: { token: 2, queries: QUERIES, keys: KEYS },
  limits: { token: [0, TOKENS.length - 1, 1], queries: [LOW, HIGH], keys: [LOW, HIGH] },

  numbers({ token, queries, keys }) {
    const query = queries[token];
    const scores = keys.map((key) => dot(query, key));
    const lengths = keys.map(norm);
    const cosines = scores.map((score, j) => score / (norm(query) * lengths[j])); // no angle without a length
    return { query, length: norm(query), scores, lengths, cosines, weights: softmax(scores.map((score) => score / Math.sqrt(2))) };
  },

  finding({ token, keys }, { query, scores, cosines, lengths, weights }) {
    const best = largest(weights);
    const straightest = largest(cosines.map((cosine) => (Number.isNaN(cosine) ? -2 : cosine)));
    const why = straightest === best
      ? "It also points most nearly the same way"
      : `The key of ${TOKENS[straightest]} points more nearly the same way but scores ${fixed(scores[straightest], 2)}, with a length of ${fixed(lengths[straightest], 2)}`;
    return `The query of ${TOKENS[token]}, ${vector(query)}, scores highest with the key of ${TOKENS[best]}, ${vector(keys[best])}: ` +
      `${fixed(scores[best], 2)}, which becomes a weight of ${fixed(weights[best])}. ${why}.`;
  },

  build(set) {
    let now = explorer.start;
    const heads = { query: fresh(), key: fresh() }; // of the arrows
    const tokens = choice({ label: "Whose query", options: TOKENS.map((name, i) => [String(i), name]), pick: (token) => set({ token: Number(token) }) });
    const plane = drawn("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "plane", role: "group", "aria-label": "The plane of queries and keys" });
    plane.append(drawn("defs", {}, ...Object.entries(heads).map(([kind, id]) =>
      drawn("marker", { id, viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 6, markerHeight: 6, orient: "auto" },
        drawn("path", { d: "M0,1 L9,5 L0,9 z", class: kind })))));
    for (let line = LOW; line <= HIGH; line += 0.5) {
      const kind = line === 0 ? "axis" : "grid";
      plane.append(drawn("line", { x1: x(line), x2: x(line), y1: 0, y2: SIZE, class: kind }));
      plane.append(drawn("line", { y1: y(line), y2: y(line), x1: 0, x2: SIZE, class: kind }));
      if (Number.isInteger(line) && line) {
        plane.append(drawn("text", { x: x(line), y: y(0), dy: 18, class: "tick" }, fixed(line, 0)));
        plane.append(drawn("text", { x: x(0), y: y(line), dx: -14, dy: 5, class: "tick" }, fixed(line, 0)));
      }
    }
    plane.append(drawn("text", { x: SIZE - 6, y: y(0), dy: 38, class: "name end" }, "agent →"), drawn("text", { x: x(0), y: 18, dx: 8, class: "name" }, "↑ object"));

    const along = drawn("line", { class: "along" });
    const shadows = TOKENS.map(() => drawn("line", { class: "shadow" }));
    const feet = TOKENS.map(() => drawn("circle", { r: 4, class: "foot" }));
    plane.append(along, ...shadows, ...feet);

    const move = (what, value) => {
      const to = value.map((number) => Number(Math.min(HIGH, Math.max(LOW, number)).toFixed(4)));
      if (what === "query") set({ queries: now.queries.map((query, i) => (i === now.token ? to : query)) });
      else set({ keys: now.keys.map((key, j) => (j === what ? to : key)) });
    };
    const arrow = (what) => handle(plane, what, heads, (value) => move(what, value), () => (what === "query" ? now.queries[now.token] : now.keys[what]));
    const keys = TOKENS.map((_, j) => arrow(j));
    const query = arrow("query");
    plane.append(...keys.map((one) => one.node), query.node);

    const boxes = [query, ...keys].map((_, i) => [0, 1].map((c) => {
      const what = i ? i - 1 : "query";
      const box = element("input", { type: "number", step: NUDGE, min: LOW, max: HIGH });
      box.addEventListener("change", () => {
        const value = [...(i ? now.keys[what] : now.queries[now.token])];
        value[c] = Number(box.value) || 0;
        move(what, value);
      });
      return box;
    }));
    const names = boxes.map(() => element("th", { scope: "row" }));
    const exact = element("table", { class: "matrix" }, element("caption", {}, "The arrows, to the digit"),
      element("thead", {}, element("tr", {}, element("td"), element("th", { scope: "col" }, "agent"), element("th", { scope: "col" }, "object"))),
      element("tbody", {}, ...boxes.map((pair, i) => element("tr", {}, names[i], ...pair.map((box) => element("td", {}, box))))));
    const results = matrix({ caption: "Each key against the query; weight = softmax(q · k / √2)", rows: TOKENS, columns: ["q · k", "cos θ", "length", "weight"], digits: 4, heat: false });

    const node = element("div", {},
      element("div", { class: "controls" }, tokens.node),
      element("div", { class: "sides" }, plane, element("div", { class: "tables" }, results.node, element("div", { class: "scroll" }, exact))),
    );
    const update = (state, n) => {
      now = state;
      const name = TOKENS[state.token];
      tokens.show(String(state.token));
      query.update(n.query, `q(${name})`);
      keys.forEach((key, j) => key.update(state.keys[j], `k(${TOKENS[j]})`));
      boxes.forEach((pair, i) => {
        const [label, value] = i ? [`k(${TOKENS[i - 1]})`, state.keys[i - 1]] : [`q(${name})`, n.query];
        setText(names[i], label);
        pair.forEach((box, c) => {
          if (Number(box.value) !== value[c] || box.value === "") box.value = value[c];
          box.setAttribute("aria-label", `${label}, ${c ? "object" : "agent"}`);
        });
      });
      const unit = n.query.map((part) => part / (n.length || 1));
      setAttributes(along, { x1: x(-4 * unit[0]), y1: y(-4 * unit[1]), x2: x(4 * unit[0]), y2: y(4 * unit[1]) });
      state.keys.forEach((key, j) => {
        const foot = unit.map((part) => part * (n.scores[j] / (n.length || 1)));
        setAttributes(shadows[j], { x1: x(key[0]), y1: y(key[1]), x2: x(foot[0]), y2: y(foot[1]) });
        setAttributes(feet[j], { cx: x(foot[0]), cy: y(foot[1]) });
      });
      results.update(TOKENS.map((_, j) => [n.scores[j], n.cosines[j], n.lengths[j], n.weights[j]]), { row: largest(n.weights) });
    };
    return { node, update };
  },
};

/** An arrow from the origin whose tip can be dragged, or moved with the arrow keys. */
function handle(plane, what, heads, move, get) {
  const kind = what === "query" ? "query" : "key";
  const line = drawn("line", { x1: x(0), y1: y(0), class: `arrow ${kind}`, "marker-end": `url(#${heads[kind]})` });
  const mark = kind === "query" ? drawn("circle", { r: 8 }) : drawn("rect", { width: 14, height: 14, x: -7, y: -7 });
  const label = drawn("text", { class: "name", dx: 13, dy: -9 });
  const tip = drawn("g", { class: `tip ${kind}`, tabindex: 0, role: "application", "aria-roledescription": "movable arrow" },
    drawn("circle", { r: 20, class: "hit" }), mark, label);
  const pointed = (event) => {
    const box = plane.getBoundingClientRect();
    const [right, up] = [(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height];
    move([right, up].map((part) => grid(LOW + part * (HIGH - LOW))));
  };
  tip.addEventListener("pointerdown", (event) => {
    tip.setPointerCapture(event.pointerId);
    tip.focus();
    event.preventDefault();
  });
  tip.addEventListener("pointermove", (event) => tip.hasPointerCapture(event.pointerId) && pointed(event));
  tip.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!by) return;
    event.preventDefault();
    const step = event.shiftKey ? 5 * NUDGE : NUDGE;
    move(get().map((value, c) => value + by[c] * step));
  });
  const update = (value, name) => {
    setAttributes(line, { x2: x(value[0]), y2: y(value[1]) });
    tip.setAttribute("transform", `translate(${x(value[0])} ${y(value[1])})`);
    tip.setAttribute("aria-label", `${name} at ${vector(value)}`);
    setText(label, name);
    const left = value[0] > 1.7 || value[0] < 0.1; // away from the edge, and from what grows to the right
    label.classList.toggle("end", left);
    label.setAttribute("dx", left ? -13 : 13);
  };
  return { node: drawn("g", {}, line, tip), update };
}
