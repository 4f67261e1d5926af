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

  document.querySelectorAll("[data-chart]").forEach((place) => {
    const id = place.dataset.chart;
    const spec = read(id);
    vegaEmbed(place, spec, options)
      .then((drawn) => {
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

  // On paper nothing can be opened: what is folded is shown, but for the long tables.
  const folded = () => document.querySelectorAll("details.exhibit");
  addEventListener("beforeprint", () => folded().forEach((item) => { item.dataset.was = item.open; item.open = true; }));
  addEventListener("afterprint", () => folded().forEach((item) => { item.open = item.dataset.was === "true"; }));
})();
