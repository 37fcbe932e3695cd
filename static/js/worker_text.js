// Foreign text for eyes: what controls, hides or reverses is spelt out, as the server does it.
// Which characters those are comes from the server's own tables.

import { readJson } from "./page.js";

const HARMLESS = /^[\x20-\x7e\n\t]*$/;
const TAKES_STYLE = /[0-9#*\p{So}\p{Sm}]/u;

let rules = null;

function loadRules() {
  const { escape, combining, marks_kept: kept } = readJson("vocabulary").characters;
  const marks = characterClass(combining);
  return {
    deceiving: new RegExp(characterClass(escape), "gu"),
    pile: new RegExp(`(${marks}{${kept}})(${marks}+)`, "gu"),
  };
}

function characterClass(ranges) {
  const code = (point) => `\\u{${point.toString(16)}}`;
  return `[${ranges.map(([from, to]) => `${code(from)}-${code(to)}`).join("")}]`;
}

/** The text as a person can be shown it; newline and tab stay. */
export function visible(text) {
  if (HARMLESS.test(text)) return text;
  rules ??= loadRules();
  return text
    .replace(rules.deceiving, (char, at, whole) => (isEmojiStyle(char, at, whole) ? char : spell(char)))
    .replace(rules.pile, (_, kept, rest) => `${kept}⟦+${[...rest].length} combining marks⟧`);
}

function spell(char) {
  const code = char.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
}

function isEmojiStyle(char, at, whole) {
  if (char !== "\ufe0e" && char !== "\ufe0f") return false;
  const before = [...whole.slice(Math.max(0, at - 2), at)].at(-1);
  return before !== undefined && TAKES_STYLE.test(before);
}
