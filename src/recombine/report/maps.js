// One split at a time; a combination that is chosen, by its cell or in the list, shows its score and the nearest trained ones.
(function () {
  "use strict";
  const NEAR = 6; // neighbors that are listed; all of them are outlined
  const section = document.querySelector("[data-maps]");
  const island = document.getElementById("maps-data");
  const data = island ? JSON.parse(island.textContent) : { spaces: [], maps: [] };

  const spell = (space, rank) => space.parts[rank].map((part) => space.names[part]).join(" + ");
  const number = (value) => (value === null || value === undefined ? "–" : value.toFixed(3).replace(/^-(?=0\.0+$)/, "").replace("-", "\u2212"));
  const line = (kind, text, style) => {
    const made = document.createElement(kind);
    made.textContent = text;
    if (style) made.className = style;
    return made;
  };

  // the trained combinations that need the fewest parts exchanged, added or left out; of these, those that share the most
  function nearest(space, map, rank) {
    const own = new Set(space.parts[rank]);
    let [least, most] = [Infinity, 0];
    let found = [];
    space.parts.forEach((listed, other) => {
      if (other === rank || map.sides[other] !== "t") return;
      const parts = [...new Set(listed)]; // a list may have a part twice
      const shared = parts.filter((part) => own.has(part)).length;
      const apart = Math.max(own.size, parts.length) - shared;
      if (apart < least || (apart === least && shared > most)) { [least, most] = [apart, shared]; found = []; }
      if (apart === least && shared === most) found.push(other);
    });
    return { apart: least, found };
  }

  document.querySelectorAll("[data-look]").forEach((look) => {
    const map = data.maps[Number(look.dataset.look)];
    const space = data.spaces[map.space];
    const svg = document.querySelector(`[data-map="${look.dataset.look}"] svg`);
    const select = look.querySelector("select");
    const found = look.querySelector(".found");
    const score = (rank) => (map.scores ? map.scores[rank] : undefined);
    const ranks = space.parts.map((_, rank) => rank);
    const worst = (a, b) => (score(a) ?? 2) - (score(b) ?? 2) || a - b;
    const groups = [["held out" + (map.scores ? ", the worst first" : ""), "h"], ["trained", "t"]];
    groups.forEach(([name, side]) => {
      const group = document.createElement("optgroup");
      group.label = name;
      ranks.filter((rank) => map.sides[rank] === side).sort(worst).forEach((rank) => {
        const option = line("option", spell(space, rank) + (map.scores ? `  (${number(score(rank))})` : ""));
        option.value = rank;
        group.append(option);
      });
      select.append(group);
    });

    const outline = (rank, style) => {
      const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      const [x, y] = space.places[rank];
      Object.entries({ x: x - 0.5, y: y - 0.5, width: space.cell, height: space.cell, class: style }).forEach(([k, v]) => rect.setAttribute(k, v));
      svg.append(rect);
    };

    const show = (rank) => {
      svg.querySelectorAll("rect").forEach((rect) => rect.remove());
      const { apart, found: near } = nearest(space, map, rank);
      near.forEach((other) => outline(other, "near"));
      outline(rank, "chosen");
      const trained = map.sides[rank] === "t";
      const lines = [line("p", `${spell(space, rank)}: ${trained ? "trained" : "held out"}`)];
      if (map.scores) lines.push(line("p", `${map.score} ${number(score(rank))}`, "score"));
      if (near.length) lines.push(line("p", `${near.length === 1 ? "The nearest trained one" : `The ${near.length} nearest trained ones`}, ${apart} part${apart === 1 ? "" : "s"} away:`, "small"));
      const list = document.createElement("ul");
      near.slice(0, NEAR).forEach((other) => list.append(line("li", spell(space, other) + (map.scores ? `: ${number(score(other))}` : ""))));
      if (near.length > NEAR) list.append(line("li", `and ${near.length - NEAR} more, outlined`));
      found.replaceChildren(...lines, list);
    };

    select.addEventListener("change", () => show(Number(select.value)));
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / box.width;
      const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      const rank = space.places.findIndex(([left, top]) => x >= left && x < left + space.cell && y >= top && y < top + space.cell);
      if (rank < 0 || map.sides[rank] === "-") return;
      select.value = rank;
      show(rank);
    });
    look.hidden = false;
    show(Number(select.value));
  });

  const splits = [...section.querySelectorAll("[data-split]")];
  const radios = [...section.querySelectorAll('input[type="radio"]')];
  const turn = () => splits.forEach((split, index) => { split.hidden = !radios[index].checked; });
  radios.forEach((radio) => radio.addEventListener("change", turn));
  section.querySelector(".choice").hidden = splits.length < 2;
  section.classList.add("alive");
  turn();
})();
