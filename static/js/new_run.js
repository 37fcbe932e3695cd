// The spec one types is kept in this tab until the run is started, and an example never
// overwrites it without a way back.

import { keepDraft, keptDraft } from "./draft.js";
import { byId, isPlainClick, make } from "./page.js";

const form = byId("new-run");
const text = byId("spec");
const status = form.querySelector(".kept");
const offered = new Map(
  [...byId("example-texts").content.querySelectorAll("[data-name]")]
    .map((one) => [one.dataset.name, one.textContent]),
);

const isOwn = () => text.value.trim() !== "" && ![...offered.values()].includes(text.value);

function say(words, undo) {
  status.replaceChildren(words);
  if (!undo) return;
  const button = make("button", { className: "plain link", type: "button", text: "Undo" });
  button.addEventListener("click", undo);
  status.append(" ", button);
}

function replaceText(next, words) {
  const before = text.value;
  text.value = next;
  keepDraft(isOwn() ? next : "");
  say(words, before.trim() && before !== next ? () => replaceText(before, "Your text is back.") : null);
  text.focus();
  text.setSelectionRange(0, 0);
  text.scrollTop = 0;
}

if (!text.value.trim() && keptDraft()) {
  text.value = keptDraft();
  say("Your unsent text is back.", () => replaceText("", "Cleared."));
}
byId("problems")?.focus();

text.addEventListener("input", () => keepDraft(isOwn() ? text.value : ""));
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) form.requestSubmit();
});
document.addEventListener("click", (event) => {
  const link = isPlainClick(event) && event.target.closest("[data-example]");
  if (!link) return;
  event.preventDefault();
  const { example } = link.dataset;
  replaceText(offered.get(example), `The example “${example}”.`);
});
form.addEventListener("submit", (event) => {
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  keepDraft(text.value);
  form.querySelector("[type=submit]").setAttribute("aria-disabled", "true");
});
window.addEventListener("pageshow", () => {
  delete form.dataset.sent;
  form.querySelector("[type=submit]").removeAttribute("aria-disabled");
});
