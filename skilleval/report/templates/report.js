"use strict";
(() => {
  const drawFigure = (holder) => {
    const spec = JSON.parse(document.getElementById(holder.dataset.spec).textContent);
    const options = { renderer: "svg", actions: false, ast: true, tooltip: { theme: "report" } };
    vegaEmbed(holder, spec, options).catch((error) => {
      holder.textContent = `This figure could not be drawn: ${error.message}`;
    });
  };

  // Values that are not known stay at the end in either direction.
  const compareBy = (index, sign) => (first, second) => {
    const [a, b] = [first, second].map((row) => row.cells[index].dataset.sort ?? row.cells[index].textContent.trim());
    if (a === "" || b === "") return (a === "") - (b === "");
    const difference = Number(a) - Number(b);
    return sign * (Number.isNaN(difference) ? a.localeCompare(b) : difference);
  };

  const sortRows = (table, heading) => {
    const direction = heading.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
    table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", direction);
    const body = table.tBodies[0];
    const sign = direction === "ascending" ? 1 : -1;
    body.append(...[...body.rows].sort(compareBy(heading.cellIndex, sign)));
  };

  const makeSortable = (table) => {
    table.querySelectorAll("thead th").forEach((heading) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "sort by this column";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sortRows(table, heading));
      heading.append(button);
    });
  };

  // A table that is wider than its box fades at the edge until its end is seen.
  const cueScroll = (box) => {
    const cue = () => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
    box.addEventListener("scroll", cue, { passive: true });
    new ResizeObserver(cue).observe(box);
  };

  document.querySelectorAll(".scroll").forEach(cueScroll);
  document.querySelectorAll("[data-spec]").forEach(drawFigure);
  document.querySelectorAll("table.sortable").forEach(makeSortable);
})();
