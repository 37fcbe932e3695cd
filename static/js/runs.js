// The list of runs: keys, a pill when newer runs have come, rows that keep up.

import { byId, isTyping } from "./page.js";

const ASK_MS = 4_000;

const links = () => [...document.querySelectorAll("#runs a.goal")];

function step(by) {
  const all = links();
  if (!all.length) return;
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by));
  all[next].focus();
}

const keys = {
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  Home: () => links()[0]?.focus(),
  End: () => links().at(-1)?.focus(),
  "/": () => byId("find").select(),
  c: () => document.querySelector(".list-head a.primary")?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event)) return;
  if (document.querySelector("dialog[open]") || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
byId("find").addEventListener("keydown", (event) => {
  if (event.key === "Escape") event.target.blur();
});

/** Asks the list again: rows that changed are exchanged where they are, the focus stays. */
async function keepUp() {
  if (document.hidden) return;
  const [rows, newer] = await Promise.all([text(location.href), text(byId("newer").dataset.url)]);
  byId("newer").replaceChildren(...parse(newer).body.childNodes);
  const fresh = parse(rows);
  for (const row of document.querySelectorAll("#runs > li")) {
    const now = fresh.querySelector(`#runs > li[data-run="${row.dataset.run}"]`);
    if (now) exchange(row, now);
  }
}

async function text(url) {
  const response = await fetch(url, { headers: { Accept: "text/html" }, signal: AbortSignal.timeout(10_000) });
  if (!response.ok || response.redirected) throw new Error(`expected the list, got ${response.status}`);
  return response.text();
}

const parse = (html) => new DOMParser().parseFromString(html, "text/html");

function exchange(row, now) {
  for (const part of [".s", ".classes", ".nodes", ".spent"]) {
    const before = row.querySelector(`:scope > ${part}`);
    const after = now.querySelector(`:scope > ${part}`);
    if (before && after && !before.isEqualNode(after)) before.replaceWith(after);
  }
}

setInterval(() => keepUp().catch((error) => console.info("list of runs:", error.message)), ASK_MS);
