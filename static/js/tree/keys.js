// The keys of the tree, after the WAI-ARIA tree pattern.

import { isTyping } from "../page.js";

/** Keys that work while the tree has the focus. `go` has the moves; see tree/index.js. */
export function treeKeys(rows, go) {
  const keys = {
    ArrowDown: () => go.step(1),
    ArrowUp: () => go.step(-1),
    ArrowRight: go.into,
    ArrowLeft: go.out,
    Home: go.first,
    End: go.last,
    PageDown: () => go.page(1),
    PageUp: () => go.page(-1),
    Enter: go.open,
    " ": go.open,
    "*": go.openSiblings,
  };
  const pageMoves = new Set(["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "Home", "End", "PageDown", "PageUp", "Enter"]);
  // While nothing has the focus, the keys that walk the tree are meant for it.
  document.addEventListener("keydown", (event) => {
    if (event.target !== document.body || !pageMoves.has(event.key) || isChord(event)) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    rows.focus({ preventScroll: true });
    keys[event.key]();
  });
  let typed = "";
  let typedAt = 0;
  rows.addEventListener("keydown", (event) => {
    if (isChord(event)) return;
    const move = keys[event.key];
    if (move) {
      event.preventDefault();
      move();
    } else if (event.key.length === 1 && /[\p{L}\p{N}]/u.test(event.key) && !isPageKey(event.key)) {
      typed = event.timeStamp - typedAt < 700 ? typed + event.key : event.key;
      typedAt = event.timeStamp;
      go.startingWith(typed.toLowerCase());
    }
  });
}

const PAGE_KEYS = new Set(["/", "n", "[", "]", "?", "p"]);
const isPageKey = (key) => PAGE_KEYS.has(key);
const isChord = (event) => event.metaKey || event.ctrlKey || event.altKey;

/** Keys that work on the whole page, except while one types. */
export function pageKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (isChord(event) || isTyping(event)) return;
    if (document.querySelector("dialog[open]")) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}
