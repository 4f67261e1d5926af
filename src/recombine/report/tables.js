// Tables sort by their heads, and long ones filter. Cells are read and moved, never written.
(function () {
  "use strict";
  const LONG = 8; // rows from which a filter is worth its place
  const DIRECTIONS = ["ascending", "descending", "none"];

  // what a cell is sorted by: its own value, the number it begins with, or its words
  const key = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return "";
    const text = (cell.dataset.value ?? cell.textContent).trim().replace(/\u2212/g, "-");
    if (/^(nan|none|\u2013)?$/i.test(text)) return null; // nothing there
    const number = text.match(/^[-+]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?(?=$|[\s%])/i); // a hash may begin with digits
    const value = number ? Number(number[0].replace(/,/g, "")) : NaN;
    return Number.isFinite(value) ? value : text;
  };
  // turned: -1 for the largest first; where there is nothing comes last both ways
  const order = (a, b, turned) => {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number") return turned * (a - b);
    if (typeof a !== typeof b) return turned * (typeof a === "number" ? -1 : 1); // numbers before words
    return turned * a.localeCompare(b, "en", { numeric: true });
  };

  function sortable(table) {
    const body = table.tBodies[0];
    const rows = [...body.rows]; // as they were written
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (!head.textContent.trim() || head.hasAttribute("data-plain")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = DIRECTIONS[(DIRECTIONS.indexOf(head.getAttribute("aria-sort")) + 1) % DIRECTIONS.length];
        heads.forEach((other) => other.hasAttribute("aria-sort") && other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", next);
        const turned = next === "descending" ? -1 : 1;
        const sorted = next === "none" ? rows : [...rows].sort((a, b) => order(key(a, column), key(b, column), turned));
        body.append(...sorted);
      });
    });
  }

  function filterable(table) {
    const rows = [...table.tBodies[0].rows];
    const asked = table.id && document.querySelector(`[data-filter="${table.id}"]`);
    if (rows.length <= LONG && !asked) return;
    const bar = document.createElement("p");
    bar.className = "filter";
    const input = document.createElement("input");
    input.type = "search";
    input.placeholder = "Filter rows";
    input.setAttribute("aria-label", `Filter the rows of the table ${table.getAttribute("aria-label") || ""}`.trim());
    const readout = document.createElement("output");
    const show = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      rows.forEach((row) => {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        left += !row.hidden;
      });
      readout.textContent = words.length ? `${left} of ${rows.length} rows` : `${rows.length} rows`;
    };
    // buttons that fill the filter in: pressed again they empty it
    const buttons = table.id ? [...document.querySelectorAll(`[data-filter="${table.id}"]`)] : [];
    const press = () => buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.words === input.value)));
    buttons.forEach((button) => button.addEventListener("click", () => {
      input.value = input.value === button.dataset.words ? "" : button.dataset.words;
      show();
      press();
    }));
    input.addEventListener("input", () => { show(); press(); });
    bar.append(input, readout);
    (table.closest(".scroll") || table).before(bar);
    show();
  }

  document.querySelectorAll("table[data-sorts]").forEach((table) => {
    if (!table.tHead || !table.tBodies.length) return;
    filterable(table);
    sortable(table);
  });
})();
