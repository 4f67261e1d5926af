// The map of two factors, and the combinations below it. A cell that is pressed filters them; labels are text, never markup.
(function () {
  "use strict";
  const SHOWN = 20; // combinations at once; "more" shows as many again
  const section = document.querySelector("[data-audit-map]");
  const island = document.getElementById("audit-map");
  if (!section || !island || !section.querySelector(".switches")) return;
  const data = JSON.parse(island.textContent);
  const { factors, levels, codes, pairs, rows } = data;
  const form = section.querySelector(".switches");
  const [down, across] = [form.querySelector("[data-down]"), form.querySelector("[data-across]")];
  const table = section.querySelector(".heat");
  const readout = section.querySelector("[data-readout]");
  const listed = section.querySelector("[data-listed]");
  const filtered = section.querySelector("[data-filtered]");
  let chosen = null; // {factor: code} of the cell that was pressed
  let most = SHOWN;

  const make = (kind, text, style) => {
    const made = document.createElement(kind);
    if (text !== undefined) made.textContent = text;
    if (style) made.className = style;
    return made;
  };
  const percent = (value) => (value === null || value === undefined ? "\u2013" : `${(100 * value).toFixed(Math.abs(value - 0.5) > 0.49 && value % 1 ? 1 : 0)} %`);
  const count = (value) => value.toLocaleString("en");

  // -- what a cell says. A cell: trained rows, other rows, answers, right, low, high, risk
  const measures = {
    coverage: { value: (c) => c[0], text: (c) => count(c[0]), shade: (c, top) => (c[0] ? 0.12 + 0.4 * Math.log1p(c[0]) / Math.log1p(top) : 0), color: "var(--series-1)" },
    accuracy: { value: (c) => c[3], text: (c) => percent(c[3]), shade: (c) => (c[3] === null ? 0 : 0.75 * (1 - c[3])), color: "var(--series-2)" },
    risk: { value: (c) => c[6], text: (c) => percent(c[6]), shade: (c) => (c[6] === null ? 0 : 0.75 * c[6]), color: "var(--series-2)" },
  };
  const words = (a, b, i, j, c) => {
    const name = `${factors[a]} ${levels[a][i]}, ${factors[b]} ${levels[b][j]}`;
    const parts = [`${count(c[0])} training rows`];
    if (c[2]) parts.push(`${percent(c[3])} right [${percent(c[4])}, ${percent(c[5])}], ${count(c[2])} answers`);
    else if (data.outcomes) parts.push("no answers");
    if (c[6] !== null) parts.push(`risk ${percent(c[6])}`);
    return `${name}: ${parts.join("; ")}`;
  };
  const measure = () => measures[form.querySelector("[name=measure]:checked").value];

  // the cells of two factors, whichever of them is down
  function cells(a, b) {
    const pair = pairs.find((one) => (one.a === a && one.b === b) || (one.a === b && one.b === a));
    if (!pair) return null;
    const width = levels[pair.b].length;
    return (i, j) => (pair.a === a ? pair.cells[i * width + j] : pair.cells[j * width + i]);
  }

  function draw() {
    const [a, b] = [Number(down.value), Number(across.value)];
    const at = cells(a, b);
    table.replaceChildren();
    if (!at) { readout.textContent = a === b ? "Choose two different factors." : "This pair of factors is not on the page."; return; }
    const shown = measure();
    const all = levels[a].flatMap((_, i) => levels[b].map((_, j) => at(i, j)));
    const top = Math.max(...all.map((c) => c[0]), 1);
    const head = make("tr");
    const corner = make("th", `${factors[a]} \\ ${factors[b]}`, "corner");
    corner.scope = "col";
    head.append(corner, ...levels[b].map((level) => { const th = make("th"); th.scope = "col"; th.append(make("span", level)); return th; }));
    const thead = make("thead");
    thead.append(head);
    const body = make("tbody");
    levels[a].forEach((level, i) => {
      const row = make("tr");
      const name = make("th", level);
      name.scope = "row";
      row.append(name);
      levels[b].forEach((_, j) => {
        const c = at(i, j);
        const cell = make("td");
        const button = make("button", shown.text(c));
        button.type = "button";
        const said = words(a, b, i, j, c);
        button.setAttribute("aria-label", said);
        button.title = said;
        const pressed = chosen && chosen[a] === codes[a][i] && chosen[b] === codes[b][j];
        button.setAttribute("aria-pressed", String(Boolean(pressed)));
        if (!c[0] && shown === measures.coverage) button.className = "never";
        button.style.background = `color-mix(in srgb, ${shown.color} ${Math.round(100 * Math.min(shown.shade(c, top), 0.75))}%, transparent)`;
        const tell = () => { readout.textContent = said; };
        button.addEventListener("pointerenter", tell);
        button.addEventListener("focus", tell);
        button.addEventListener("click", () => {
          chosen = pressed ? null : { [a]: codes[a][i], [b]: codes[b][j] };
          most = SHOWN;
          draw();
          list();
          table.querySelectorAll("tbody tr")[i].cells[j + 1].firstChild.focus({ preventScroll: true });
        });
        cell.append(button);
        row.append(cell);
      });
      body.append(row);
    });
    table.append(thead, body);
    const cut = [a, b].filter((f) => levels[f].length < data.all[f]).map((f) => `${levels[f].length} of ${count(data.all[f])} levels of ${factors[f]}`);
    readout.textContent = cut.length ? `Shown: ${cut.join(", ")}, those with most rows.` : "Press a cell to see its combinations; point at it for numbers and intervals.";
  }

  // -- combinations
  const calls = data.calls;
  function list() {
    const own = chosen ? rows.filter((row) => Object.entries(chosen).every(([f, code]) => row[0][f] === code)) : rows;
    const body = listed.querySelector("tbody");
    body.replaceChildren(...own.slice(0, most).map((row) => {
      const [place, trained, answers, right, risk, low, high, call] = row;
      const line = make("tr");
      place.forEach((code, f) => line.append(make("td", data.names[f][code])));
      line.append(make("td", count(trained), "num"), make("td", answers ? `${count(right)} of ${count(answers)}` : "\u2013", "num"));
      const chance = make("td", percent(risk), "num");
      if (risk !== null) chance.title = `${percent(low)} to ${percent(high)}`;
      const said = make("td");
      if (call) said.append(make("span", calls[call][0], `badge ${calls[call][1]}`));
      line.append(chance, said);
      return line;
    }));
    const where = chosen ? Object.entries(chosen).map(([f, code]) => `${factors[f]} ${data.names[f][code]}`).join(", ") : "";
    const total = data.more ? `${count(own.length)} of those of highest priority` : count(own.length);
    filtered.replaceChildren(document.createTextNode(`${chosen ? `${where}: ` : ""}${total}${own.length > most ? `, the first ${count(most)}` : ""} `));
    const press = (text, then) => { const made = make("button", text, "act"); made.type = "button"; made.addEventListener("click", then); filtered.append(made); };
    if (chosen) press("show all", () => { chosen = null; most = SHOWN; draw(); list(); });
    if (own.length > most) press("more", () => { most += SHOWN; list(); });
  }

  const option = (name, f) => { const made = make("option", name); made.value = f; return made; };
  factors.forEach((name, f) => { down.append(option(name, f)); across.append(option(name, f)); });
  down.value = pairs[data.first].a;
  across.value = pairs[data.first].b;
  const swap = (other, before) => () => { if (down.value === across.value) other.value = before(); chosen = null; draw(); list(); };
  let [last_down, last_across] = [down.value, across.value];
  const keep = () => { [last_down, last_across] = [down.value, across.value]; };
  down.addEventListener("change", () => { swap(across, () => last_down)(); keep(); });
  across.addEventListener("change", () => { swap(down, () => last_across)(); keep(); });
  form.querySelectorAll("[name=measure]").forEach((radio) => radio.addEventListener("change", draw));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  draw();
  list();

  // on paper nothing can be opened: findings are shown unfolded
  const folded = () => document.querySelectorAll("details.finding");
  addEventListener("beforeprint", () => folded().forEach((one) => { one.dataset.was = one.open; one.open = true; }));
  addEventListener("afterprint", () => folded().forEach((one) => { one.open = one.dataset.was === "true"; }));
})();
