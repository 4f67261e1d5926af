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

  function save(view, name) {
    view.toSVG().then((text) => {
      const colors = getComputedStyle(document.documentElement);
      const fixed = text.replace(/var\((--[a-z0-9-]+)\)/g, (_, variable) => colors.getPropertyValue(variable).trim());
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([fixed], { type: "image/svg+xml" }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  document.querySelectorAll("[data-chart]").forEach((place) => {
    const id = place.dataset.chart;
    vegaEmbed(place, read(id), options)
      .then((drawn) => {
        const button = document.querySelector(`[data-save="${id}"]`);
        button.hidden = false;
        button.addEventListener("click", () => save(drawn.view, `${id}.svg`));
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
