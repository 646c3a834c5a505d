"use strict";
// Every table with the class `sortable` gets buttons in its header; one with `data-rows` gets a line of tools above it.
(() => {
  const create = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const SPACES = /[\s\u2007\u2008\u2009]/g;
  const NUMBER = /^[<>×+]?(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:\/(\d+))?(ms|s)?(?![a-z])/;

  // "1 234", "−0.2", "2/3" and "12 s" as numbers that compare; NaN for words.
  const quantity = (text) => {
    const found = NUMBER.exec(text.replace(SPACES, "").replaceAll("−", "-"));
    if (!found) return NaN;
    const [, digits, whole, unit] = found;
    return (Number(digits) / Number(whole ?? 1)) * (unit === "s" ? 1000 : 1);
  };

  const known = (cell) => {
    const text = cell.dataset.sort ?? cell.textContent.trim();
    return text === "–" || cell.classList.contains("unknown") ? "" : text;
  };

  // Values that are not known stay at the end in either direction.
  const compareBy = (index, sign, isNumeric) => (first, second) => {
    const [a, b] = [first, second].map((row) => known(row.cells[index]));
    if (a === "" || b === "") return (a === "") - (b === "");
    const difference = isNumeric ? quantity(a) - quantity(b) : NaN;
    return sign * (Number.isNaN(difference) ? a.localeCompare(b, undefined, { numeric: true }) : difference);
  };

  const isNumeric = (table, index) => {
    const texts = [...table.tBodies[0].rows].map((row) => known(row.cells[index])).filter((text) => text !== "");
    return texts.length > 0 && texts.every((text) => !Number.isNaN(quantity(text)));
  };

  const sortRows = (table, heading) => {
    const numeric = isNumeric(table, heading.cellIndex);
    const [first, second] = numeric ? ["descending", "ascending"] : ["ascending", "descending"];
    const direction = heading.getAttribute("aria-sort") === first ? second : first;
    table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", direction);
    const body = table.tBodies[0];
    const sign = direction === "ascending" ? 1 : -1;
    body.append(...[...body.rows].sort(compareBy(heading.cellIndex, sign, numeric)));
  };

  const makeSortable = (table) => {
    for (const heading of table.tHead.rows[0].cells) {
      const button = create("button", { type: "button", title: "sort by this column" }, ...heading.childNodes);
      button.addEventListener("click", () => sortRows(table, heading));
      heading.append(button);
    }
  };

  // For phones, where the header of a table of cards is out of sight.
  const orderChoice = (table) => {
    const headings = [...table.tHead.rows[0].cells];
    const select = create("select", {}, create("option", { value: "", textContent: "as given" }));
    headings.forEach((heading, index) => select.append(create("option", { value: index, textContent: heading.textContent })));
    select.addEventListener("change", () => select.value && sortRows(table, headings[Number(select.value)]));
    return create("label", { className: "order" }, "sort by", select);
  };

  const columnChoice = (table) => {
    const boxes = [...table.tHead.rows[0].cells].slice(1).map((heading) => {
      const box = create("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        for (const row of table.rows) row.cells[heading.cellIndex].hidden = !box.checked;
      });
      return create("label", {}, box, heading.textContent.trim());
    });
    const choice = create("details", { className: "columns" }, create("summary", { textContent: "columns" }), create("div", {}, ...boxes));
    document.addEventListener("click", (event) => choice.contains(event.target) || (choice.open = false));
    choice.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      choice.open = false;
      choice.querySelector("summary").focus();
    });
    return choice;
  };

  const kindChoice = (table, changed) => {
    const group = create("fieldset", { ariaLabel: "which to show" });
    for (const kind of ["all", ...table.dataset.kinds.split(" ")]) {
      const radio = create("input", { type: "radio", name: `${table.id}-kind`, value: kind, checked: kind === "all" });
      radio.addEventListener("change", () => changed(kind));
      group.append(create("label", {}, radio, kind));
    }
    return group;
  };

  const addTools = (table) => {
    const { rows: noun, by } = table.dataset;
    const rows = [...table.tBodies[0].rows].map((row) => ({
      row,
      text: `${row.textContent} ${row.dataset.text ?? ""}`.toLocaleLowerCase(),
    }));
    const wanted = { words: [], kind: "all" };
    const count = create("output");
    const nothing = create("p", { className: "nothing", textContent: `No ${noun} match.`, hidden: true });
    const apply = () => {
      let shown = 0;
      for (const { row, text } of rows) {
        const isOfKind = wanted.kind === "all" || (row.dataset.kinds ?? "").split(" ").includes(wanted.kind);
        row.hidden = !(isOfKind && wanted.words.every((word) => text.includes(word)));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = shown === rows.length ? `${shown} ${noun}` : `${shown} of ${rows.length} ${noun}`;
      nothing.hidden = shown > 0;
    };
    const field = create("input", { type: "search", placeholder: `filter by ${by}`, ariaLabel: `filter the ${noun} by ${by}` });
    field.addEventListener("input", () => {
      wanted.words = field.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
      apply();
    });
    count.setAttribute("aria-live", "polite");
    const tools = create("div", { className: "tools" }, field);
    const kindChanged = (kind) => {
      wanted.kind = kind;
      apply();
    };
    if (table.dataset.kinds) tools.append(kindChoice(table, kindChanged));
    tools.append(orderChoice(table));
    if ("columns" in table.dataset) tools.append(columnChoice(table));
    tools.append(count);
    apply();
    const box = table.closest(".scroll");
    box.before(tools);
    box.after(nothing);
  };

  document.querySelectorAll("table[data-rows]").forEach(addTools);
  document.querySelectorAll("table.sortable").forEach(makeSortable);
})();
