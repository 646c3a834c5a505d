"use strict";
// A figure is drawn when it comes near the window, the others when there is time or before printing.
(() => {
  const colours = JSON.parse(document.getElementById("figure-colours").textContent);

  // The theme of the figures names colours of the light page; as variables they follow the page in every theme and in
  // print without drawing again. Data is left as it is.
  const inTheme = (value, key) => {
    if (key === "data" || key === "datasets") return value;
    if (Array.isArray(value)) return value.map((item) => inTheme(item));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inTheme(item, name)]));
    }
    return typeof value === "string" ? (colours[value] ?? value) : value;
  };

  const waiting = new Set(document.querySelectorAll("[data-spec]"));

  const draw = (holder) => {
    if (!waiting.delete(holder)) return Promise.resolve();
    const spec = inTheme(JSON.parse(document.getElementById(holder.dataset.spec).textContent));
    // Vega-Lite draws texts and rules of no stated colour in black.
    const marks = Object.fromEntries(["text", "rule"].map((mark) => [mark, { color: "var(--ink)", ...spec.config?.[mark] }]));
    const options = {
      config: marks,
      renderer: "svg",
      actions: false,
      ast: true,
      logLevel: 1,
      tooltip: { theme: "report" },
      formatLocale: { decimal: ".", thousands: "\u202f", grouping: [3], currency: ["$", ""] },
    };
    return vegaEmbed(holder, spec, options)
      .catch((error) => {
        holder.textContent = `This figure could not be drawn: ${error.message}`;
      })
      .finally(() => holder.classList.add("drawn"));
  };

  const drawNext = () => {
    const [next] = waiting;
    if (next) draw(next).then(soon);
  };
  const soon = () => ("requestIdleCallback" in window ? requestIdleCallback(drawNext, { timeout: 2000 }) : setTimeout(drawNext, 200));

  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "400px" },
  );
  waiting.forEach((holder) => near.observe(holder));
  window.addEventListener("load", soon);
  window.addEventListener("beforeprint", () => waiting.forEach(draw));
})();
