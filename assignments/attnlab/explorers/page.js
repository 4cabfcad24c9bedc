
// A page has no kernel to share its state with.
const values = { level: 1 };
mount(
  {
    model: { get: (name) => values[name], set: (name, value) => (values[name] = value), save_changes() {}, on() {}, off() {} },
    el: document.querySelector("main"),
  },
  explorer,
);
