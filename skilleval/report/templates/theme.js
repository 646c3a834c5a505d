"use strict";
// Runs before the page is drawn, so that a chosen theme does not flash. A page opened from a file may be refused storage.
const theme = (() => {
  const KEY = "skilleval-theme";
  const CHOICES = ["auto", "light", "dark"];

  const remembered = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  };

  const remember = (choice) => {
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // The choice then holds until the page is closed.
    }
  };

  const apply = (choice) => {
    if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
    else delete document.documentElement.dataset.theme;
  };

  const offer = (group) => {
    const current = document.documentElement.dataset.theme ?? "auto";
    const buttons = CHOICES.map((choice) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = choice;
      button.setAttribute("aria-pressed", String(choice === current));
      button.addEventListener("click", () => {
        apply(choice);
        remember(choice);
        buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      });
      return button;
    });
    group.append(...buttons);
    group.hidden = false;
  };

  apply(remembered());
  return { offer };
})();
