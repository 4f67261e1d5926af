// A slider shows one frame of its grid at a time. Without this script, and on paper, all of them are there.
(function () {
  "use strict";
  document.querySelectorAll("[data-slider]").forEach((slide) => {
    const grid = slide.closest("figure");
    const [input, output] = ["input", "output"].map((name) => slide.querySelector(name));
    const frames = grid.querySelectorAll("tr[data-frame]");
    const show = () => {
      frames.forEach((frame, index) => frame.classList.toggle("off", index !== Number(input.value)));
      const name = frames[Number(input.value)].dataset.frame;
      output.textContent = name;
      input.setAttribute("aria-valuetext", name);
    };
    input.addEventListener("input", show);
    grid.classList.add("sliding");
    slide.hidden = false;
    show();
  });
})();
