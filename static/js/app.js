// What every page has: theme, ages, menus, the list of keys.

import { age, duration } from "./format.js";
import { byId, isTyping } from "./page.js";
import { startTheme } from "./theme.js";

const TICK_MS = 1000;

/** Keeps "14 s ago" and running durations true; the exact time is in the title. */
function tick() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-age]")) {
    write(time, age(now - Date.parse(time.dateTime)));
  }
  for (const time of document.querySelectorAll("time[data-since]")) {
    write(time, duration(now - Date.parse(time.dateTime)));
  }
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function startMenus() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

function startKeyHelp() {
  const dialog = byId("keys");
  if (!dialog) return;
  const show = () => dialog.open || dialog.showModal();
  for (const button of document.querySelectorAll("[data-keys]")) button.addEventListener("click", show);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || isTyping(event) || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    show();
  });
}

startTheme();
startMenus();
startKeyHelp();
tick();
setInterval(() => document.hidden || tick(), TICK_MS);
document.addEventListener("visibilitychange", () => document.hidden || tick());
document.addEventListener("htmx:afterSwap", tick);
