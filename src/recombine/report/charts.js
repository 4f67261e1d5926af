// Draws the charts whose specifications lie in the page. Nothing is fetched; labels are text, never markup.
(function () {
  "use strict";

  const read = (id) => JSON.parse(document.getElementById(id).textContent);

  const options = {
    mode: "vega-lite",
    renderer: "svg", // sharp on paper, and its colors are CSS variables that follow the reader's color scheme
    actions: false,
    ast: true, // expressions are interpreted, so the page needs no eval
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true, sanitize: (value) => String(value).replace(/&/g, "&amp;").replace(/</g, "&lt;") },
    config: read("chart-config"),
  };

  // -- what can be saved: the drawing in the colors it has now, and the rows it is drawn from
  const fixed = (svg) => {
    const colors = getComputedStyle(document.documentElement);
    const paper = `<rect width="100%" height="100%" fill="${colors.getPropertyValue("--paper").trim()}"/>`;
    return svg
      .replace(/var\((--[a-z0-9-]+)\)/g, (_, variable) => colors.getPropertyValue(variable).trim())
      .replace(/(<svg[^>]*>)/, `$1${paper}`);
  };

  function picture(svg) {
    return new Promise((done, fail) => {
      const image = new Image();
      image.onload = () => {
        const canvas = document.createElement("canvas");
        canvas.width = 2 * image.width;
        canvas.height = 2 * image.height;
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob(done, "image/png");
      };
      image.onerror = () => fail(new Error("the drawing could not be turned into an image"));
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    });
  }

  function table(rows) {
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const cell = (value) => {
      if (value === null || value === undefined) return "";
      let text = typeof value === "object" ? JSON.stringify(value) : String(value);
      if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`; // no spreadsheet takes it for a formula
      return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
    };
    return [names, ...rows.map((row) => names.map((name) => row[name]))].map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
  }

  const kinds = {
    svg: async (view) => new Blob([fixed(await view.toSVG())], { type: "image/svg+xml" }),
    png: async (view) => picture(fixed(await view.toSVG())),
    csv: async (view, spec) => new Blob([table(spec.data.values)], { type: "text/csv" }),
  };

  function hand(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // -- a legend or a title that is wider than a narrow screen makes the whole drawing smaller; it is not cut
  function hold(place) {
    const svg = place.querySelector("svg");
    const fit = () => {
      const [width, height] = ["width", "height"].map((name) => Number(svg.getAttribute(name)));
      const box = svg.getBBox();
      const left = Math.min(0, Math.floor(box.x));
      const right = Math.max(width, Math.ceil(box.x + box.width));
      const seen = `${left} 0 ${right - left} ${height}`;
      svg.setAttribute("viewBox", seen);
    };
    // again when it is drawn for another width; not when `viewBox` changes, since text is not equally wide at every scale
    new MutationObserver(fit).observe(svg, { attributes: true, attributeFilter: ["width", "height"] });
    fit();
  }

  // -- by keyboard: left and right go through what has a tooltip, in the order in which it is drawn
  const words = (value) => (Object(value) === value ? Object.entries(value).map(([name, of]) => `${name}: ${of}`).join("; ") : String(value));

  function walk(place, view) {
    const readout = document.createElement("p");
    readout.className = "small readout";
    readout.setAttribute("role", "status");
    place.after(readout);
    // found again for each key: a chart is drawn anew when its width changes
    const marks = () => {
      const seen = new Set(); // a point in two layers, or the dots of a line, are one
      return [...place.querySelectorAll("svg *")].filter((mark) => {
        const item = mark.__data__;
        if (!item || Array.isArray(item) || item.tooltip === undefined || item.tooltip === null || item.tooltip === "") return false;
        const text = words(item.tooltip);
        return !seen.has(text) && seen.add(text);
      });
    };
    const leave = () => {
      place.querySelectorAll(".walked").forEach((mark) => mark.classList.remove("walked"));
      view.tooltip()(null, {}, null, null);
    };
    let at = -1;
    const steps = { ArrowRight: (last) => Math.min(at + 1, last), ArrowLeft: () => Math.max(at - 1, 0), Home: () => 0, End: (last) => last };
    place.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return leave();
      const found = marks();
      if (!Object.hasOwn(steps, event.key) || !found.length || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      at = steps[event.key](found.length - 1);
      leave();
      const box = found[at].getBoundingClientRect();
      const value = found[at].__data__.tooltip;
      found[at].classList.add("walked");
      view.tooltip()(null, { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }, found[at].__data__, value);
      readout.textContent = `${at + 1} of ${found.length}: ${words(value)}`;
    });
    place.addEventListener("blur", leave);
    if (!marks().length) return;
    place.tabIndex = 0;
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", `${place.dataset.title}. The arrow keys left and right go through its points.`);
  }

  document.querySelectorAll("[data-chart]").forEach((place) => {
    const id = place.dataset.chart;
    const spec = read(id);
    vegaEmbed(place, spec, options)
      .then((drawn) => {
        hold(place);
        walk(place, drawn.view);
        const saves = document.querySelector(`[data-saves="${id}"]`);
        saves.hidden = false;
        saves.querySelectorAll("[data-save]").forEach((button) => {
          const kind = button.dataset.save;
          if (kind === "csv" && !(spec.data && Array.isArray(spec.data.values))) button.hidden = true;
          button.addEventListener("click", async () => {
            hand(await kinds[kind](drawn.view, spec), `${document.body.dataset.name}-${id}.${kind}`);
          });
        });
      })
      .catch((problem) => {
        place.textContent = `This chart could not be drawn (${problem.message}); its numbers are in the table below.`;
        place.classList.add("undrawn");
      });
  });

  // what is folded has no width to be drawn for: it is drawn when it is opened
  document.querySelectorAll("details").forEach((folded) => folded.addEventListener("toggle", () => {
    if (folded.open && folded.querySelector("[data-chart]")) dispatchEvent(new Event("resize"));
  }));

  // On paper nothing can be opened: what is folded is shown, but for the long tables and further seeds.
  const folded = () => document.querySelectorAll(".texts > details.text-kept");
  addEventListener("beforeprint", () => folded().forEach((item) => { item.dataset.was = item.open; item.open = true; }));
  addEventListener("afterprint", () => folded().forEach((item) => { item.open = item.dataset.was === "true"; }));
})();
