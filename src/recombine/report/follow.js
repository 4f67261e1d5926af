// A page that is rewritten while its study runs is loaded again every few seconds, at the place one reads at: what is
// at the top of the window, what is open, what was typed and chosen. The finished page does so once more, and rests.
(function () {
  "use strict";
  const page = document.body;
  const every = Number(page.dataset.follow || 0); // seconds; 0 on a finished page
  const name = `recombine-place:${location.pathname}`;
  const LATE = 60_000; // milliseconds after which a place that was kept is not ours any more

  // -- where an element is: below the nearest id, by its number among siblings of its kind. Numbers in the text change
  // and rows are added from one page to the next; this stays
  const kind = (element) => `${element.tagName}.${element.classList[0] || ""}`;
  const alike = (parent, of) => [...parent.children].filter((child) => kind(child) === of);
  const path = (element) => {
    if (element.id || !element.parentElement) return [element.id];
    return [...path(element.parentElement), [kind(element), alike(element.parentElement, kind(element)).indexOf(element)]];
  };
  const find = ([id, ...steps]) => steps.reduce(
    (found, [of, number]) => found && alike(found, of)[number], id ? document.getElementById(id) : document.documentElement);

  const top = (element) => element.getBoundingClientRect().top;
  const seen = () => [...document.querySelectorAll("main [id], main h1, main h2, main h3, main figure, main tr, main p, main summary")]
    .find((element) => element.getClientRects().length && top(element) >= 0);
  const ticks = (field) => field.type === "radio" || field.type === "checkbox";
  let held = null; // the place that is being found again

  function kept() {
    const mark = held ? null : seen();
    return {
      at: Date.now(),
      mark: held ? held.mark : mark && [path(mark), top(mark)],
      y: held ? held.y : scrollY,
      open: [...document.querySelectorAll("details[open]")].map(path),
      values: [...document.querySelectorAll("main input, main select")].map((one) => [path(one), ticks(one) ? one.checked : one.value]),
      theme: document.documentElement.dataset.theme || "auto",
    };
  }

  function restore(place) {
    place.open.map(find).forEach((one) => { if (one) one.open = true; });
    place.values.forEach(([where, value]) => {
      const one = find(where);
      if (!one || (ticks(one) ? one.checked === value || !value : one.value === value)) return;
      if (ticks(one)) one.checked = value;
      else one.value = value;
      ["input", "change"].forEach((event) => one.dispatchEvent(new Event(event, { bubbles: true })));
    });
    const turn = document.querySelector("[data-theme-switch]"); // where the browser keeps no theme for pages from disk
    for (let i = 0; turn && i < 3 && (document.documentElement.dataset.theme || "auto") !== place.theme; i += 1) turn.click();
    hold(place);
  }

  // charts are drawn after the page is there and move what is below them: the place is found again until it is left
  function hold(place) {
    const back = () => {
      const mark = place.mark && find(place.mark[0]);
      if (mark) scrollBy({ top: top(mark) - place.mark[1], behavior: "instant" });
      else scrollTo({ top: place.y, behavior: "instant" });
    };
    const watch = new ResizeObserver(back);
    const leave = () => { watch.disconnect(); held = null; };
    held = place;
    watch.observe(page);
    ["wheel", "touchstart", "keydown", "pointerdown"].forEach((event) => addEventListener(event, leave, { once: true, passive: true }));
    setTimeout(leave, 5000);
    back();
  }

  let place = null;
  try {
    place = JSON.parse(sessionStorage.getItem(name));
    sessionStorage.removeItem(name);
  } catch { /* a browser that keeps nothing: the page begins at its top */ }
  if (place && Date.now() - place.at < LATE) {
    history.scrollRestoration = "manual";
    restore(place);
  }
  if (!every) return;

  if (Date.now() / 1000 - Number(page.dataset.written) > Number(page.dataset.stale)) {
    document.querySelector("[data-running]").textContent =
      "Nobody has rewritten this page for a while: the run has stopped, or was killed. The same command again continues it.";
    return;
  }
  let down = false; // while a pointer is pressed, or something is typed or marked, nothing is taken from under it
  addEventListener("pointerdown", () => { down = true; });
  ["pointerup", "pointercancel"].forEach((event) => addEventListener(event, () => { down = false; }));
  const writes = (element) => element && (element.tagName === "SELECT" || (element.tagName === "INPUT" && !ticks(element)));
  setInterval(() => {
    if (document.hidden || down || writes(document.activeElement) || String(getSelection()) !== "") return;
    const now = JSON.stringify(kept());
    try { sessionStorage.setItem(name, now); } catch { /* as above */ }
    location.reload();
  }, 1000 * every);
})();
