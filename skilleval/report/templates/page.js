"use strict";
(() => {
  // A table that is wider than its box fades at the edge until its end is seen.
  const cueScroll = (box) => {
    const cue = () => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
    box.addEventListener("scroll", cue, { passive: true });
    new ResizeObserver(cue).observe(box);
  };

  const offerCopy = (source) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button copy";
    button.textContent = "copy";
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(source.textContent).then(
        () => (button.textContent = "copied"),
        () => {
          getSelection().selectAllChildren(source);
          button.textContent = "selected";
        },
      );
    });
    source.after(button);
  };

  // What is folded is printed whole, and folded again afterwards.
  const opened = [];
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("main details:not([open])").forEach((part) => {
      part.open = true;
      opened.push(part);
    });
  });
  window.addEventListener("afterprint", () => opened.splice(0).forEach((part) => (part.open = false)));

  theme.offer(document.getElementById("theme"));
  document.querySelectorAll(".scroll").forEach(cueScroll);
  document.querySelectorAll("[data-copy]").forEach(offerCopy);
})();
