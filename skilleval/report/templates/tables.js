"use strict";
// Every table with the class `sortable` gets buttons in its header; one with `data-rows` gets a line of tools above it.
(() => {
  const create = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");

  const SPACES = /\s/g; // all the spaces of Unicode are among them
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

  const collator = new Intl.Collator(undefined, { numeric: true });

  // Values that are not known stay at the end in either direction.
  const compareBy = (sign) => (first, second) => {
    if (first.text === "" || second.text === "") return (first.text === "") - (second.text === "");
    const difference = first.number - second.number;
    return sign * (Number.isNaN(difference) ? collator.compare(first.text, second.text) : difference);
  };

  // A long table draws its first rows; the rest is added when it is scrolled to, asked for or printed. All rows are kept
  // here, so that sorting and filtering reach those that are not drawn.
  const STEP = 200;
  const makeRows = (table) => {
    const body = table.tBodies[0];
    const found = { all: [...body.rows], wanted: () => true };
    let matching = found.all;
    let drawn = matching.length;
    const more = create("button", { type: "button", className: "button rest", hidden: true });
    const add = (n) => {
      body.append(...matching.slice(drawn, drawn + n));
      drawn = Math.min(matching.length, drawn + n);
      more.hidden = drawn >= matching.length;
      more.textContent = `show all ${grouped(matching.length)} rows`;
    };
    found.draw = () => {
      matching = found.all.filter(found.wanted);
      drawn = 0;
      body.replaceChildren();
      add(STEP);
      return matching.length;
    };
    if (found.all.length <= STEP) return found;
    const box = table.closest(".scroll");
    box.append(more);
    more.addEventListener("click", () => {
      const next = drawn;
      add(Infinity);
      (matching[next].querySelector("a, button") ?? box).focus();
    });
    const near = (entries) => entries.some((entry) => entry.isIntersecting) && add(STEP);
    new IntersectionObserver(near, { root: box, rootMargin: "0px 0px 900px 0px" }).observe(more);
    window.addEventListener("beforeprint", () => add(Infinity));
    found.draw();
    return found;
  };
  const stores = new WeakMap();
  const rowsOf = (table) => {
    if (!stores.has(table)) stores.set(table, makeRows(table));
    return stores.get(table);
  };

  const sortRows = (table, heading) => {
    const rows = rowsOf(table);
    const index = heading.cellIndex;
    const keyed = rows.all.map((row) => {
      const text = known(row.cells[index]);
      return { row, text, number: quantity(text) };
    });
    const texts = keyed.filter(({ text }) => text !== "");
    const isNumeric = texts.length > 0 && texts.every(({ number }) => !Number.isNaN(number));
    if (!isNumeric) keyed.forEach((key) => (key.number = NaN));
    const [first, second] = isNumeric ? ["descending", "ascending"] : ["ascending", "descending"];
    const direction = heading.getAttribute("aria-sort") === first ? second : first;
    table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", direction);
    rows.all = keyed.sort(compareBy(direction === "ascending" ? 1 : -1)).map(({ row }) => row);
    rows.draw();
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
        for (const row of [...table.tHead.rows, ...rowsOf(table).all]) row.cells[heading.cellIndex].hidden = !box.checked;
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
    const rows = rowsOf(table);
    const texts = new Map();
    const textOf = (row) => {
      if (!texts.has(row)) texts.set(row, `${row.textContent} ${row.dataset.text ?? ""}`.toLocaleLowerCase());
      return texts.get(row);
    };
    const wanted = { words: [], kind: "all" };
    const count = create("output");
    const nothing = create("p", { className: "nothing", textContent: `No ${noun} match.`, hidden: true });
    const isOfKind = (row) => wanted.kind === "all" || (row.dataset.kinds ?? "").split(" ").includes(wanted.kind);
    rows.wanted = (row) => isOfKind(row) && wanted.words.every((word) => textOf(row).includes(word));
    const tell = (n, all) => {
      count.textContent = n === all ? `${grouped(n)} ${noun}` : `${grouped(n)} of ${grouped(all)} ${noun}`;
      nothing.hidden = n > 0;
    };
    const apply = () => tell(rows.draw(), rows.all.length);
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
    tell(rows.all.length, rows.all.length);
    const box = table.closest(".scroll");
    box.before(tools);
    box.after(nothing);
  };

  document.querySelectorAll("table[data-rows]").forEach(addTools);
  document.querySelectorAll("table.sortable").forEach(makeSortable);
})();
