"use strict";
// Tables sort by a click or Enter on a column's head, and the list of submissions can be narrowed. Without this
// script the page is the same, in the order of the file.
const value = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent.trim();
const compare = (a, b) => {
  const [x, y] = [Number.parseFloat(a), Number.parseFloat(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) {
    return Number.isNaN(x) && Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : Number.isNaN(x) - Number.isNaN(y);
  }
  return x - y;
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    if (head.tagName !== "TH") return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      for (const body of table.tBodies) {
        const rows = [...body.rows].map((row) => [value(row, at), row]);
        rows.sort(([a], [b]) => (falling ? compare(b, a) : compare(a, b)));
        body.append(...rows.map(([, row]) => row));
      }
    });
  });
}
for (const label of document.querySelectorAll("label.filter")) {
  label.hidden = false;
  const input = label.querySelector("input");
  const table = document.getElementById(input.dataset.table);
  input.addEventListener("input", () => {
    const wanted = input.value.toLocaleLowerCase();
    for (const row of table.tBodies[0].rows) row.hidden = !row.cells[0].textContent.toLocaleLowerCase().includes(wanted);
  });
}
