// Light, dark, or as the reader's system has it; remembered where the browser lets a page remember.
// And what is wider than the screen says that it can be moved.
(function () {
  "use strict";
  const themes = ["auto", "light", "dark"];
  const button = document.querySelector("[data-theme-switch]");
  let theme = "auto";
  try { theme = localStorage.getItem("recombine-theme") || theme; } catch { /* a page from disk may not remember */ }

  const show = () => {
    if (!themes.includes(theme)) theme = "auto";
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try { localStorage.setItem("recombine-theme", theme); } catch { /* as above */ }
    show();
  });
  button.hidden = false;
  show();

  const hints = new Map();
  const wide = () => document.querySelectorAll(".scroll, .drawn-to-size .chart").forEach((box) => {
    const hint = hints.get(box) ?? document.createElement("p");
    hints.set(box, hint);
    hint.className = "small sideways";
    hint.textContent = "There is more to the right: it can be moved sideways.";
    hint.hidden = box.scrollWidth <= box.clientWidth + 1;
    if (!hint.isConnected && !hint.hidden) box.after(hint);
  });
  addEventListener("load", wide);
  addEventListener("resize", wide);
  new ResizeObserver(wide).observe(document.body); // charts are drawn later
})();
