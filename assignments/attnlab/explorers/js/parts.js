// What the explorers are made of: elements, numbers as text, controls, a matrix with its numbers in the cells,
// and the frame around it all. Text only ever enters the page as text.

const SVG = "http://www.w3.org/2000/svg";
// A notebook holds several explorers in one document, each with a copy of this text: without a mark of its own, the
// radio buttons of two would be one group.
const own = Math.random().toString(36).slice(2, 10);
let made = 0;

/** A name that nothing else in the document has. */
export function fresh() {
  return `attnlab-${own}-${++made}`;
}

/** An element. `on…` are listeners, everything else is an attribute; children are nodes or text. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text; // the same text again would be read out again
}

export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

// ---------------------------------------------------------------- numbers

/** `-0.5` as "−0.50"; what is no number in words. */
export function fixed(value, digits = 4) {
  if (Number.isNaN(value)) return "none";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** With commas between thousands. */
export function grouped(value, digits = 0) {
  const [whole, rest] = fixed(value, digits).split(".");
  const parts = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest ? `${parts}.${rest}` : parts;
}

export function vector(values, digits = 2) {
  return `[${values.map((value) => fixed(value, digits)).join(", ")}]`;
}

export function largest(row) {
  return row.reduce((best, value, i) => (value > row[best] ? i : best), 0);
}

// --------------------------------------------------------------- controls

/** One of a few, as buttons that belong together; `options` are [value, label]. */
export function choice({ label, options, pick }) {
  const name = fresh();
  const inputs = options.map(([value]) =>
    element("input", { type: "radio", name, value, onchange: () => pick(value) }),
  );
  const node = element("fieldset", { class: "choice" }, element("legend", {}, label));
  const row = element("div", { class: "row" });
  options.forEach(([, text], i) => row.append(element("label", {}, inputs[i], element("span", {}, text))));
  node.append(row);
  const show = (value) => inputs.forEach((input, i) => (input.checked = options[i][0] === value));
  return { node, show };
}

/** On or off. */
export function toggle({ label, flip }) {
  const input = element("input", { type: "checkbox", role: "switch", onchange: () => flip(input.checked) });
  const node = element("label", { class: "toggle" }, input, element("span", {}, label));
  return { node, show: (on) => (input.checked = on) };
}

/** A slider and a box for the exact number. `log` makes a step multiply; `unit` follows the number. */
export function slider({ label, min, max, step = 1, log = false, unit = "", move }) {
  const id = fresh();
  const steps = 200; // of a slider that multiplies
  const to = (value) => (log ? (steps * Math.log(value / min)) / Math.log(max / min) : value);
  const from = (at) => (log ? rounded(min * (max / min) ** (at / steps), step) : Number(at));
  const range = element("input", {
    type: "range", id, class: "range", min: log ? 0 : min, max: log ? steps : max, step: log ? 1 : step,
    oninput: () => move(from(Number(range.value))),
  });
  const box = element("input", {
    type: "number", min, max, step: log && step < 1 ? "any" : step, "aria-label": `${label}, exact value`,
    onchange: () => move(Math.min(max, Math.max(min, Number(box.value) || min))),
  });
  const node = element("div", { class: "slider" }, element("label", { for: id }, label), range, box, element("span", { class: "unit" }, unit));
  const show = (value) => {
    range.value = to(value);
    range.setAttribute("aria-valuetext", `${value} ${unit}`.trim());
    if (Number(box.value) !== value) box.value = value;
  };
  return { node, show };
}

/** Three leading digits, on the grid of `step`. */
function rounded(value, step) {
  return Math.max(step, Number((Math.round(Number(value.toPrecision(3)) / step) * step).toPrecision(12)));
}

export function button(label, press) {
  return element("button", { type: "button", onclick: press }, label);
}

// ----------------------------------------------------------------- tables

/**
 * A matrix with its numbers in the cells, darker for more. `update(values, { row, blocked })` fills it: `row` is
 * chosen, and a cell for which `blocked(i, j)` holds is hatched. With `choose` the names of the rows are buttons, and
 * the arrow keys go from one to the next; with `press` so are the cells, which then say what `pressed` says of them.
 */
export function matrix({ caption, rows, columns, digits = 4, heat = true, dense = false, big = false, choose, press, says }) {
  const kind = ["matrix", dense && "dense", big && "big", digits < 3 && "narrow"].filter(Boolean).join(" ");
  const table = element("table", { class: kind }, element("caption", {}, caption));
  const top = element("tr", {}, element("td", {}));
  const tops = columns.map((name) => element("th", { scope: "col" }, element("span", {}, name)));
  top.append(...tops);
  table.append(element("thead", {}, top));
  const body = element("tbody");
  const names = rows.map((name, i) => (choose ? element("button", { type: "button", onclick: () => choose(i) }, name) : name));
  const cells = rows.map((_, i) =>
    columns.map((_, j) => (press ? element("button", { type: "button", onclick: () => press(i, j) }) : element("span"))),
  );
  const lines = rows.map((_, i) =>
    element("tr", {}, element("th", { scope: "row" }, names[i]), ...cells[i].map((cell) => element("td", {}, cell))),
  );
  body.append(...lines);
  table.append(body);
  table.addEventListener("keydown", (event) => arrows(event, choose ? names : [], cells, choose));
  const update = (values, { row = -1, blocked = () => false } = {}) => {
    values.forEach((line, i) => {
      lines[i].classList.toggle("chosen", i === row);
      if (choose) names[i].setAttribute("aria-pressed", i === row);
      line.forEach((value, j) => {
        const cell = cells[i][j];
        setText(cell, short(fixed(value, digits), dense));
        cell.parentElement.classList.toggle("blocked", blocked(i, j));
        if (heat) cell.parentElement.style.setProperty("--share", Math.min(1, Math.max(0, Number.isNaN(value) ? 0 : value)).toFixed(4));
        if (says) cell.setAttribute("aria-label", says(i, j, value));
      });
    });
  };
  const rename = (j, name) => setText(tops[j].firstChild, name);
  const renameRow = (i, name) => setText(choose ? names[i] : lines[i].firstChild, name);
  return { node: element("div", { class: "scroll" }, table), update, rename, renameRow };
}

function short(text, dense) {
  return dense ? text.replace(/^0(?=\.)/, "") : text;
}

/** Arrow keys in a table: up and down through the names of the rows, all four through cells that can be pressed. */
function arrows(event, names, cells, choose) {
  const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!by) return;
  const name = names.indexOf(event.target);
  if (name >= 0 && by[0]) {
    event.preventDefault();
    const next = (name + by[0] + names.length) % names.length;
    names[next].focus();
    choose(next);
    return;
  }
  const i = cells.findIndex((line) => line.includes(event.target));
  const next = cells[i + by[0]]?.[(cells[i] ?? []).indexOf(event.target) + by[1]];
  if (i >= 0 && next?.tagName === "BUTTON") {
    event.preventDefault();
    next.focus();
  }
}

/** Names and values, one pair a line. `update` takes the values, in order. */
export function facts(names) {
  const values = names.map(() => element("dd"));
  const node = element("dl", { class: "facts" });
  names.forEach((name, i) => node.append(element("div", {}, element("dt", {}, name), values[i])));
  return { node, update: (texts) => texts.forEach((text, i) => setText(values[i], text)) };
}

/** Lines of arithmetic; as many as there may ever be, so that nothing below them moves. */
export function arithmetic(lines) {
  const rows = Array.from({ length: lines }, () => element("p"));
  const node = element("div", { class: "arithmetic" }, ...rows);
  return { node, update: (texts) => rows.forEach((row, i) => setText(row, texts[i] ?? "\u00a0")) };
}

/** Several pictures in one place, one of them shown: the place is always as large as the largest. */
export function stack(...nodes) {
  const node = element("div", { class: "stack" }, ...nodes);
  return { node, show: (which) => nodes.forEach((one, i) => one.classList.toggle("off", i !== which)) };
}

// --------------------------------------------------------------- pictures

/** Call `move` with the share of its width at which a pointer presses or drags in `surface`. */
export function pointed(surface, move) {
  const moved = ({ clientX }) => {
    const box = surface.getBoundingClientRect();
    move((clientX - box.left) / box.width);
  };
  surface.addEventListener("pointerdown", (event) => {
    surface.setPointerCapture(event.pointerId);
    moved(event);
  });
  surface.addEventListener("pointermove", (event) => surface.hasPointerCapture(event.pointerId) && moved(event));
}

/** A picture with numbers below it and, by `update`, beside it: each a share of the width or height, and what stands there. */
export function framed(picture, below) {
  const ticks = (side, marks) => marks.map(([share, text]) => element("span", { style: `${side}: ${(100 * share).toFixed(2)}%` }, text));
  const beside = element("div", { class: "beside", "aria-hidden": "true" });
  const node = element("div", { class: "framed" }, beside, picture, element("div", { class: "below", "aria-hidden": "true" }, ...ticks("left", below)));
  return { node, update: (marks) => beside.replaceChildren(...ticks("top", marks)) };
}

// ------------------------------------------------------------------ frame

/** `given` where it is what `start` could have been, otherwise `start`; numbers within their `limits`. */
export function cleaned(start, limits, given) {
  const clean = { ...start };
  for (const [name, usual] of Object.entries(start)) {
    const value = given?.[name];
    if (!alike(value, usual)) continue;
    const limit = limits[name];
    if (typeof value === "number") clean[name] = within(value, limit);
    else if (Array.isArray(value)) clean[name] = value.map((row) => row.map((number) => within(number, limit)));
    else if (typeof value === "string" && limit && !limit.includes(value)) continue;
    else clean[name] = typeof value === "string" ? value.slice(0, 40) : value;
  }
  return clean;
}

function alike(value, usual) {
  if (Array.isArray(usual)) {
    return Array.isArray(value) && value.length === usual.length && usual.every((one, i) => alike(value[i], one));
  }
  return typeof value === typeof usual && (typeof value !== "number" || Number.isFinite(value));
}

function within(value, [least, most, step] = [-Infinity, Infinity]) {
  const limited = Math.min(most, Math.max(least, value));
  return step ? Math.round(limited / step) * step : limited;
}

/**
 * Show an explorer in `el`. It has `title`, `section`, `about` and `note`; `start` and `limits` of its state; `numbers(state)`,
 * all that it shows; `finding(state, numbers)`, the same in words; and `build(set)`, which makes `node` and `update`.
 */
export function mount({ model, el }, explorer) {
  const usual = explorer.tidy ?? ((state) => state);
  let state = usual(cleaned(explorer.start, explorer.limits, model.get("state")));
  const finding = element("p", { class: "finding", role: "status", "aria-live": "polite" });
  const built = explorer.build((change) => {
    state = usual(cleaned(explorer.start, explorer.limits, { ...state, ...change }));
    refresh();
    share();
  });
  const refresh = () => {
    const numbers = explorer.numbers(state);
    built.update(state, numbers);
    setText(finding, explorer.finding(state, numbers));
  };
  const share = () => {
    model.set("state", state);
    model.set("shown", explorer.numbers(state));
    model.save_changes();
  };
  const reset = button("Back to the start", () => {
    state = { ...explorer.start };
    refresh();
    share();
  });
  const title = element("p", { class: "title", role: "heading", "aria-level": model.get("level") ?? 3 }, explorer.title);
  el.append(
    element(
      "section",
      // JupyterLab would take the arrow keys for itself: they choose the next cell there.
      { class: "attnlab-explorer", "aria-label": explorer.title, "data-lm-suppress-shortcuts": "true" },
      element("div", { class: "head" }, title, element("span", { class: "where" }, explorer.section), reset),
      element("p", { class: "about" }, explorer.about),
      built.node,
      finding,
      element("p", { class: "note" }, explorer.note),
    ),
  );
  refresh();
  share();
  const changed = () => {
    const given = usual(cleaned(explorer.start, explorer.limits, model.get("state")));
    if (JSON.stringify(given) === JSON.stringify(state)) return;
    state = given;
    refresh();
    model.set("shown", explorer.numbers(state));
    model.save_changes();
  };
  model.on("change:state", changed);
  return () => model.off("change:state", changed);
}
