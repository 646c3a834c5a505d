"use strict";
// Opens one task with its trials. What is shown comes from compressed blocks in the page; nothing of it is ever markup:
// texts become text nodes, hidden characters are spelled out as report/text.py does on the server side.
(() => {
  const dialog = document.getElementById("drawer");
  if (!dialog) return;
  const part = (name) => dialog.querySelector(name);
  const [title, tags, place, body] = ["#drawer-title", ".drawer-tags", ".drawer-place", ".drawer-body"].map(part);
  const choice = part("select");
  const ADDRESS = /^#task-(\d+)(?:-(\d+))?$/;
  const FOLD_LENGTH = 500;
  const FOLD_LINES = 10;
  const SHORT_JSON = 60;
  const MISSING = "This browser cannot open the compressed parts of this page: it lacks DecompressionStream. "
    + "A newer one can; the same rows are in the tables of the run.";

  // Letters and marks that draw nothing, or reorder their neighbours; the same rule as is_hidden in report/text.py.
  const HIDDEN = new RegExp(
    "[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u2800\\u3164\\uffa0"
    + "\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]|(?![ \\u2009\\u202f\\u3000])\\p{Zs}", "u");
  const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

  const escaped = (character) => {
    if (character in SHORT) return SHORT[character];
    const point = character.codePointAt(0);
    const digits = (width) => point.toString(16).padStart(width, "0");
    if (point <= 0xff) return `\\x${digits(2)}`;
    return point <= 0xffff ? `\\u${digits(4)}` : `\\U${digits(8)}`;
  };

  const pieces = (text, keep = "") => {
    const found = [];
    let plain = "";
    for (const character of text) {
      if (keep.includes(character) || !HIDDEN.test(character)) {
        plain += character;
      } else {
        if (plain) found.push([plain, false]);
        found.push([escaped(character), true]);
        plain = "";
      }
    }
    if (plain) found.push([plain, false]);
    return found;
  };

  const oneLine = (text) => pieces(text).map(([piece]) => piece).join("");

  const make = (tag, className, ...children) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children.filter((child) => child !== null && child !== ""));
    return made;
  };

  const seen = (text, keep = "") => {
    const found = document.createDocumentFragment();
    pieces(text, keep).forEach(([piece, hidden]) => found.append(hidden ? make("span", "hidden", piece) : piece));
    return found;
  };

  const isolated = (text, className = "") => make("bdi", className, seen(text));
  const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");

  // Lays JSON out without reading its numbers, which a parser may change; other texts stay as they are.
  const laidOut = (text) => {
    let value;
    try { value = JSON.parse(text); } catch { return text; }
    if (typeof value === "string") return value.includes("\n") ? value : text;
    if (value === null || typeof value !== "object" || text.length <= SHORT_JSON) return text;
    const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g);
    let depth = 0;
    const line = () => `\n${"  ".repeat(depth)}`;
    return tokens.map((token, i) => {
      const [before, after] = [tokens[i - 1], tokens[i + 1]];
      if (token === "{" || token === "[") {
        depth += 1;
        return after === "}" || after === "]" ? token : token + line();
      }
      if (token === "}" || token === "]") {
        depth -= 1;
        return before === "{" || before === "[" ? token : line() + token;
      }
      if (token === ",") return token + line();
      return token === ":" ? ": " : token;
    }).join("");
  };

  const lengthOf = (kept, length) => {
    const n = [...kept].length;
    if (length === undefined) return `${grouped(n)} characters`;
    return `${grouped(length)} characters, the first ${grouped(n)} kept`;
  };

  const textBox = (name, entry) => {
    if (entry === undefined || entry === null) return null;
    const [kept, length] = entry;
    const pre = make("pre", "", seen(laidOut(kept), "\n\t"));
    pre.dir = "ltr";
    const isLong = kept.length > FOLD_LENGTH || kept.split("\n").length > FOLD_LINES;
    if (isLong) {
      const summary = make("summary", "", make("span", "name", seen(name)), lengthOf(kept, length));
      return make("details", "drawer-text", summary, pre);
    }
    const cut = length === undefined ? "" : ` · ${lengthOf(kept, length)}`;
    return make("div", "drawer-text", make("p", "name", seen(name), cut), pre);
  };

  const textBoxes = (texts, named) => {
    const boxes = named.map(([name, at]) => textBox(name, texts[at])).filter(Boolean);
    return boxes.length ? make("div", "drawer-texts", ...boxes) : null;
  };

  const OF_ATTEMPT = ["output", "stdout", "stderr"];
  const VERDICTS = { passed: ["fine", "✓"], failed: ["failing", "✕"] };
  const ORDER = { errors: 0, failing: 1, unknown: 2, fine: 3 };

  const kindOf = (trial) => {
    if (trial.status !== "completed") return ["errors", "▲", trial.status];
    return [...(VERDICTS[trial.verdict] ?? ["unknown", "○"]), trial.verdict];
  };

  const outcome = ([kind, shape, words], detail) => {
    const more = detail && detail !== words ? ` (${detail})` : "";
    const mark = make("span", "shape", shape);
    mark.setAttribute("aria-hidden", "true");
    return make("span", `drawer-outcome ${kind}`, mark, " ", seen(words + more));
  };

  const sentence = (entry) => {
    if (!entry) return null;
    const [text, length] = entry;
    if (text.length > FOLD_LENGTH || length !== undefined || text.includes("\n")) return textBox("", entry);
    return make("p", "", isolated(text));
  };

  const checkRow = (texts, check) => {
    const verdict = [...(VERDICTS[check.verdict] ?? ["unknown", "○"]), check.verdict];
    const numbers = [
      check.score === undefined ? "" : `score ${check.score}`,
      check.weight === undefined || check.weight === "1" ? "" : `weight ${check.weight}`,
      check.optional ? "not required" : "",
    ].filter(Boolean).join(" · ");
    return make("tr", "",
      make("td", "", outcome(verdict, check.kind)),
      make("td", "", isolated(check.scorer, "scorer"), " ", sentence(texts[check.check]), numbers && make("p", "note", numbers)),
      make("td", "", sentence(texts[check.reason]), textBox("evidence", texts[check.evidence])));
  };

  const headed = (words, ...parts) => [make("h3", "", words), ...parts];

  const checkTable = (texts, checks) => {
    const head = make("tr", "", ...["verdict", "scorer and check", "why"].map((name) => make("th", "", name)));
    head.querySelectorAll("th").forEach((cell) => { cell.scope = "col"; });
    const failedFirst = [...checks].sort((a, b) => (a.verdict === "passed") - (b.verdict === "passed"));
    const rows = failedFirst.map((check) => checkRow(texts, check));
    return headed("Checks", make("table", "drawer-checks", make("thead", "", head), make("tbody", "", ...rows)));
  };

  const turnBox = (texts, [role, name, at]) => {
    const said = name ? `${role} ${name}` : role;
    if (role !== "tool call") return make("div", "drawer-turn", textBox(said, texts[at]));
    const pre = textBox("arguments", texts[at]);
    return make("details", "drawer-turn", make("summary", "", isolated(said)), pre);
  };

  const tryBox = (texts, one) => {
    const kind = one.status === "completed" ? ["unknown", "○", one.status] : ["errors", "▲", one.status];
    const facts = make("span", "note", (one.facts ?? []).join(" · "));
    const summary = make("summary", "", `try ${one.index + 1}`, outcome(kind, one.kind), facts);
    const shown = textBoxes(texts, OF_ATTEMPT.map((name) => [name, one[name]]));
    return make("details", "", summary, sentence(texts[one.message]), shown);
  };

  const trialParts = (texts, trial) => [
    sentence(texts[trial.message]),
    ...(trial.notes ?? []).map((note) => make("p", "note", isolated(note))),
    ...(trial.checks ? checkTable(texts, trial.checks) : []),
    ...(OF_ATTEMPT.some((name) => trial[name] !== undefined)
      ? headed("Attempt", textBoxes(texts, OF_ATTEMPT.map((name) => [name, trial[name]]))) : []),
    ...(trial.turns ? headed("Transcript", ...trial.turns.map((turn) => turnBox(texts, turn))) : []),
    ...(trial.tries ? headed("Tries", ...trial.tries.map((one) => tryBox(texts, one))) : []),
    trial.left_out ? make("p", "note", `${trial.left_out.join(", ")} in the tables of the run.`) : null,
  ];

  // Filled when it is first opened: a task may have hundreds of trials.
  const trialBox = ({ texts, trial, condition }) => {
    const facts = [`repeat ${trial.repeat}`, ...(trial.facts ?? [])].join(" · ");
    const summary = make("summary", "", outcome(kindOf(trial), trial.kind), condition && isolated(condition, "skill"),
      make("span", "details", seen(facts)));
    const inside = make("div");
    const box = make("details", "drawer-trial", summary, inside);
    box.addEventListener("toggle", () => {
      if (box.open && !inside.firstChild) inside.append(...trialParts(texts, trial).filter(Boolean));
    });
    return box;
  };

  const loaded = new Map();
  const unpacked = async (number) => {
    const packed = atob(document.getElementById(`drawer-block-${number}`).textContent);
    const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  };
  const block = (number) => {
    if (!loaded.has(number)) loaded.set(number, unpacked(number));
    return loaded.get(number);
  };

  const trialsOf = async (index, task) => {
    const [first, last] = index.blocks[task] ?? [1, 0];
    const blocks = await Promise.all(Array.from({ length: last - first + 1 }, (_, i) => block(first + i)));
    const trials = blocks.flatMap(({ texts, trials: rows }) => rows
      .filter(([of]) => of === task).map(([, condition, trial]) => ({ texts, condition, trial })));
    const asked = blocks.length ? blocks[0].tasks[task].map((at) => blocks[0].texts[at]) : [];
    return { asked, trials: trials.sort((a, b) => ORDER[kindOf(a.trial)[0]] - ORDER[kindOf(b.trial)[0]]) };
  };

  const offerConditions = (index, trials, chosen) => {
    const counts = new Map();
    trials.forEach(({ condition }) => counts.set(condition, (counts.get(condition) ?? 0) + 1));
    const option = (value, words) => new Option(words, value, false, value === (chosen ?? ""));
    const numbers = [...new Set([...counts.keys(), ...(chosen === null ? [] : [chosen])])].sort((a, b) => a - b);
    choice.replaceChildren(option("", `all conditions (${grouped(trials.length)})`), ...numbers.map((number) => option(
      number, `${oneLine((index.conditions[number] ?? ["?"]).join(" · "))} (${grouped(counts.get(number) ?? 0)})`)));
  };

  const leftOut = ({ shown, trials }) => shown >= trials ? null : make("p", "note",
    `${grouped(shown)} of ${grouped(trials)} trials can be opened: those that did not pass first, then an even sample `
    + "of the passed ones. All are in the tables of the run.");

  const fill = (index, { asked, trials }, condition) => {
    const shown = trials.filter((one) => condition === null || one.condition === condition);
    const named = shown.map((one) => ({
      ...one, condition: condition === null ? index.conditions[one.condition].join(" · ") : "" }));
    const boxes = named.map(trialBox);
    const texts = textBoxes(asked, [["input", 0], ["expected", 1]]);
    const none = boxes.length ? null : make("p", "note", "No trial is shown here: see the tables of the run.");
    body.replaceChildren(...[texts, make("h3", "", `Trials: ${grouped(boxes.length)}`), none, ...boxes, leftOut(index)]
      .filter(Boolean));
    if (boxes.length) boxes[0].open = true;
    body.scrollTop = 0;
  };

  let at = { task: 0, condition: null };
  let wasPushed = false;

  const show = async (task, condition) => {
    at = { task, condition };
    if (!dialog.open) dialog.showModal();
    if (typeof DecompressionStream === "undefined") {
      body.replaceChildren(make("p", "note", MISSING));
      return;
    }
    try {
      const index = await block(0);
      const known = index.tasks[task];
      const found = known ? await trialsOf(index, task) : { asked: [], trials: [] };
      if (at.task !== task || at.condition !== condition) return;
      title.replaceChildren(known ? isolated(known[0]) : "No such task");
      tags.replaceChildren(known ? seen(known[1].join(" · ")) : "");
      place.textContent = known ? `${grouped(task + 1)} of ${grouped(index.tasks.length)}` : "";
      dialog.querySelectorAll("[data-step]").forEach((button) => {
        button.disabled = !index.tasks[task + Number(button.dataset.step)];
      });
      offerConditions(index, found.trials, condition);
      fill(index, found, condition);
    } catch (error) {
      body.replaceChildren(make("p", "note", `This part of the page could not be opened: ${error.message}`));
    }
  };

  const address = (task, condition) => `#task-${task}${condition === null ? "" : `-${condition}`}`;
  const numberOf = (text) => text === undefined || text === "" ? null : Number(text);

  // A place of the page itself may be named likewise, where it tells of a task whose trials cannot be opened here.
  const showLinked = async (task, condition) => {
    const isPlace = document.getElementById(location.hash.slice(1)) !== null;
    const isKnown = isPlace && (await block(0).then(({ tasks }) => task < tasks.length, () => false));
    if (!isPlace || isKnown) show(task, condition);
  };

  const route = () => {
    const found = ADDRESS.exec(location.hash);
    if (found) showLinked(Number(found[1]), numberOf(found[2]));
    else if (dialog.open) dialog.close();
  };

  // Another task or condition takes the place of the shown one: one step back leaves the drawer.
  const turnTo = (task, condition) => {
    history.replaceState(history.state, "", address(task, condition));
    show(task, condition);
  };

  const openFrom = (event) => {
    const link = event.target.closest?.("[data-task]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    wasPushed = true;
    location.hash = address(Number(link.dataset.task), numberOf(link.dataset.condition));
  };

  document.addEventListener("click", openFrom);
  document.addEventListener("keydown", (event) => {
    const isNative = event.target.closest?.("a, button, summary, input, select");
    if ((event.key === "Enter" || event.key === " ") && !isNative) openFrom(event);
  });
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.step) turnTo(at.task + Number(button.dataset.step), at.condition);
    else if (button || event.target === dialog) dialog.close();
  });
  choice.addEventListener("change", () => turnTo(at.task, numberOf(choice.value)));
  dialog.addEventListener("close", () => {
    const leads = ADDRESS.test(location.hash);
    if (leads && wasPushed) history.back();
    else if (leads) history.replaceState(history.state, "", location.pathname + location.search);
    wasPushed = false;
  });
  window.addEventListener("hashchange", route);
  route();
})();
