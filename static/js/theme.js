// Light, dark or as the system is. The page's first script has set it before anything is painted.

const KEY = "swarm.theme";

export function startTheme() {
  const buttons = [...document.querySelectorAll("[data-theme-choice]")];
  const mark = () => {
    const chosen = document.documentElement.dataset.theme ?? "system";
    for (const button of buttons) {
      const isChosen = button.dataset.themeChoice === chosen;
      button.setAttribute("aria-checked", String(isChosen));
      button.querySelector("i").textContent = isChosen ? "✓" : "";
    }
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      choose(button.dataset.themeChoice);
      mark();
      button.closest("details").open = false;
    });
  }
  mark();
}

function choose(theme) {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Storage is off in this browser: the choice holds for this page.
  }
}
