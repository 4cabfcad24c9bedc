// The KV cache calculator: bytes for a token, for a request and for everybody; in GB and in GiB.
import { kvBytesPerToken } from "./attention.js";
import { ABOUT, SHAPES } from "./given.js";
import { element, facts, fixed, grouped, setText, slider } from "./parts.js";

const [GB, GIB, KIB] = [1e9, 2 ** 30, 2 ** 10];
const NAMES = Object.keys(SHAPES);
const FORMATS = [["4", "fp32: 4 bytes"], ["2", "fp16 or bf16: 2 bytes"], ["1", "fp8 or int8: 1 byte"], ["0.5", "int4: half a byte"]];

export const explorer = {
  ...ABOUT,
  note: "Counted are keys and values in every layer and, for what fits, the weights. Activations, working space and how a server splits its memory come on top. 1 GiB is 1.0737 GB.",
  start: { ...SHAPES[NAMES[0]], bytes: 2, users: 1 },
  limits: {
    layers: [1, 200, 1], heads: [1, 256, 1], kvHeads: [1, 256, 1], headDim: [8, 512, 1], tokens: [1, 2000000, 1],
    bytes: [0.5, 4, 0.5], users: [1, 1000, 1], memory: [1, 2000], weights: [0, 2000],
  },
  tidy: (state) => ({ ...state, kvHeads: Math.min(state.kvHeads, state.heads) }),

  numbers({ layers, heads, kvHeads, headDim, tokens, bytes, users, memory, weights }) {
    const perToken = kvBytesPerToken(layers, kvHeads, headDim, bytes);
    const request = perToken * tokens;
    const free = Math.max(0, memory - weights) * GB;
    const scheme = (kv) => kvBytesPerToken(layers, kv, headDim, bytes) * tokens;
    return {
      perToken, request, all: request * users, free, fit: Math.floor(free / request), longest: Math.floor(free / (users * perToken)),
      schemes: { MHA: scheme(heads), yours: request, MQA: scheme(1) },
    };
  },

  finding({ heads, kvHeads, tokens, users, memory, weights }, { perToken, request, all, free, fit, longest }) {
    const together = users > 1 ? ` ${grouped(users)} requests need ${size(all)}.` : "";
    const room = free ? `The ${fixed(memory - weights, 1)} GB left beside the weights hold ${grouped(fit)} such ${fit === 1 ? "request" : "requests"}; ` +
      `${users > 1 ? `with ${grouped(users)} users, each` : "a single one"} could reach ${grouped(longest)} tokens.` : `The weights alone (${fixed(weights, 1)} GB) fill the memory (${fixed(memory, 1)} GB).`;
    const uneven = heads % kvHeads ? ` ${heads} query heads cannot share ${kvHeads} KV heads evenly.` : "";
    return `A token takes ${grouped(perToken)} bytes (${fixed(perToken / KIB, 1)} KiB), a request of ${grouped(tokens)} tokens ${size(request)}.${together} ${room}${uneven}`;
  },

  build(set) {
    const preset = element("select", { onchange: () => preset.value && set(SHAPES[preset.value]) },
      element("option", { value: "" }, "your own"), ...NAMES.map((name) => element("option", { value: name }, name)));
    const format = element("select", { onchange: () => set({ bytes: Number(format.value) }) },
      ...FORMATS.map(([value, label]) => element("option", { value }, label)));
    const sliders = [
      { key: "layers", label: "Layers", min: 1, max: 200 },
      { key: "heads", label: "Query heads", min: 1, max: 256 },
      { key: "kvHeads", label: "KV heads", min: 1, max: 256 },
      { key: "headDim", label: "Head dimension", min: 8, max: 512 },
      { key: "tokens", label: "Tokens in a request", min: 1, max: 2000000, log: true },
      { key: "users", label: "Requests at the same time", min: 1, max: 1000, log: true },
      { key: "memory", label: "Memory of the machine", min: 1, max: 2000, log: true, unit: "GB" },
      { key: "weights", label: "Weights of the model", min: 0, max: 400, unit: "GB" },
    ].map(({ key, ...about }) => ({ key, ...slider({ ...about, move: (value) => set({ [key]: value }) }) }));
    const formula = element("p", { class: "formula" });
    const told = facts(["for one token", "for one request, GB (10⁹ bytes)", "the same in GiB (2³⁰ bytes)", "for all requests", "requests that fit beside the weights", "longest context for everybody"]);
    const bars = ["MHA", "yours", "MQA"].map((name) => {
      const [label, bar, number] = [element("span"), element("span", { class: "bar" }), element("span", { class: "number" })];
      return { name, label, bar, number, node: element("div", { class: "feature wide" }, label, element("span", { class: "track", "aria-hidden": "true" }, bar), number) };
    });
    const node = element("div", {},
      element("div", { class: "controls" }, element("label", { class: "text" }, "Model shape ", preset), element("label", { class: "text" }, "Numbers kept as ", format)),
      element("div", { class: "sides" }, element("div", { class: "sliders" }, ...sliders.map((one) => one.node)),
        element("div", {}, formula, told.node, element("p", { class: "caption" }, "One request, by how many heads keep keys and values"), ...bars.map((bar) => bar.node))),
    );
    const update = (state, n) => {
      sliders.forEach(({ key, show }) => show(state[key]));
      format.value = String(state.bytes);
      preset.value = NAMES.find((name) => Object.entries(SHAPES[name]).every(([key, value]) => state[key] === value)) ?? "";
      setText(formula, `2 (keys and values) × ${state.layers} layers × ${state.kvHeads} KV heads × ${state.headDim} numbers × ${grouped(state.tokens)} tokens × ${state.bytes} bytes = ${grouped(n.request)} bytes`);
      told.update([`${grouped(n.perToken)} bytes = ${fixed(n.perToken / KIB, 3)} KiB`, `${grouped(n.request / GB, 4)} GB`, `${grouped(n.request / GIB, 4)} GiB`,
        size(n.all), grouped(n.fit), `${grouped(n.longest)} tokens`]);
      const titles = { MHA: `MHA, ${state.heads} KV heads`, yours: `as set, ${state.kvHeads} KV ${state.kvHeads === 1 ? "head" : "heads"}`, MQA: "MQA, 1 KV head" };
      bars.forEach(({ name, label, bar, number }) => {
        setText(label, titles[name]);
        bar.style.width = `${((100 * n.schemes[name]) / n.schemes.MHA).toFixed(3)}%`;
        setText(number, `${grouped(n.schemes[name] / GB, 4)} GB${less(n.schemes.MHA / n.schemes[name])}`);
      });
    };
    return { node, update };
  },
};

function less(times) {
  return times === 1 ? "" : `, 1/${fixed(times, Number.isInteger(times) ? 0 : 2)}`;
}

function size(bytes) {
  return `${grouped(bytes / GB, 4)} GB = ${grouped(bytes / GIB, 4)} GiB`;
}
