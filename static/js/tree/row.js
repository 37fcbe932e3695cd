// One row of the tree. Rows are pooled: an element is filled again and again, and only what
// differs is written.

import * as format from "../format.js";
import { icon, make } from "../page.js";
import { visible } from "../worker_text.js";
import { place } from "./scale.js";

const MOST_ROLLED = 3;

export function makeRow() {
  const part = {
    twig: make("span", { className: "twig" }, icon("twig")),
    role: make("bdi", { className: "role" }),
    title: make("bdi", { className: "title" }),
    roll: make("span", { className: "roll" }),
    folded: make("span", { className: "folded" }),
    marks: make("span", { className: "marks" }),
    word: make("span", { className: "word" }),
    tokens: make("span", { className: "num" }),
    lane: make("span", { className: "lane" }),
  };
  const status = make("span", { className: "s" }, icon("unknown"), part.word);
  const name = make("span", { className: "name" });
  name.append(part.twig, part.role, part.title, part.roll, part.folded, part.marks);
  const element = make("div", { className: "row", role: "treeitem" });
  element.append(name, status, part.tokens, part.lane);
  return { element, part, name, status, use: status.querySelector("use"), shown: {}, bars: [] };
}

/** Writes a node into a row. `scene` is what all rows of a frame share. */
export function fillRow(row, node, scene) {
  const status = scene.vocabulary.status(node.status);
  const marks = marksOf(node, scene);
  const rolled = node.children.length ? rollUp(node, scene.vocabulary) : [];
  fillPlace(row, node, scene);
  fillName(row, node, scene);
  fillStatus(row, node, status);
  fillBelow(row, node, rolled, scene);
  put(row, "marks", marks.map((mark) => mark.word + mark.status + mark.icon).join("\n"), () => {
    row.part.marks.replaceChildren(...marks.map(markElement));
    row.part.marks.hidden = !marks.length;
  });
  put(row, "label", labelOf(node, status, marks, rolled, scene), (label) => {
    row.element.setAttribute("aria-label", label);
  });
  fillLane(row, node, scene);
}

function fillPlace(row, node, scene) {
  const { element, name } = row;
  const { at, of } = scene.position;
  put(row, "id", node.id, () => {
    element.id = `node-${node.id}`;
    element.dataset.id = node.id;
  });
  put(row, "level", node.level, (level) => {
    element.setAttribute("aria-level", level);
    name.style.paddingLeft = `${(level - 1) * scene.indent}px`;
  });
  put(row, "place", `${at} of ${of}`, () => {
    element.setAttribute("aria-posinset", at);
    element.setAttribute("aria-setsize", of);
  });
  put(row, "selected", String(node.id === scene.selected), (value) => {
    element.setAttribute("aria-selected", value);
  });
  element.classList.toggle("active", node.id === scene.active);
  element.classList.toggle("context", !scene.model.matchesFilter(node));
}

function fillName(row, node, scene) {
  const { part, name } = row;
  put(row, "role", node.role, () => { part.role.textContent = visible(node.role); });
  put(row, "title", `${node.title}\n${scene.find}`, () => {
    writeFound(part.title, visible(node.title), scene.find);
  });
  put(row, "whole", `${node.role}\n${node.title}`, () => {
    name.title = visible([node.role, node.title].filter(Boolean).join(" · "));
  });
}

function fillStatus(row, node, status) {
  const { part } = row;
  const tokens = format.tokens(node.tokens);
  put(row, "status", node.status, () => {
    row.status.dataset.status = node.status;
    row.use.setAttribute("href", `#i-${status.icon}`);
    part.word.textContent = status.word;
  });
  put(row, "why", `${node.status}\n${node.reason}`, () => {
    row.status.title = visible(node.reason) || status.means;
  });
  put(row, "tokens", String(node.tokens), () => {
    part.tokens.textContent = tokens;
    part.tokens.title = node.tokens === null ? "tokens unknown" : `${node.tokens} tokens`;
  });
}

function fillBelow(row, node, rolled, scene) {
  const { part, element } = row;
  const isParent = node.children.length > 0;
  const isOpen = isParent && (scene.model.isFiltered || scene.model.isOpen(node));
  put(row, "open", isParent ? String(isOpen) : "", (value) => {
    setOrRemove(element, "aria-expanded", value || null);
  });
  put(row, "folded", isParent && !isOpen ? descendants(node) : 0, (count) => {
    part.folded.textContent = count ? `${format.count(count)} folded` : "";
    part.folded.hidden = !count;
  });
  put(row, "roll", rolled.map(([code, count]) => `${code} ${count}`).join(), () => {
    part.roll.replaceChildren(...rolled.slice(0, MOST_ROLLED).map(rollDot));
    part.roll.title = rolled.length ? `below: ${rollText(rolled, scene.vocabulary)}` : "";
    part.roll.hidden = !rolled.length;
  });
}

/** Draws the attempts of a node as bars. */
export function fillLane(row, node, scene) {
  const bars = barsOf(node, scene);
  while (row.bars.length < bars.length) {
    const element = make("i");
    row.part.lane.append(element);
    row.bars.push({ element, key: "" });
  }
  row.bars.forEach((bar, i) => drawBar(bar, bars[i]));
}

function drawBar(bar, wanted) {
  const key = wanted ? `${wanted.kind}|${wanted.status}|${wanted.left}|${wanted.width}` : "";
  if (bar.key === key) return;
  bar.key = key;
  bar.element.hidden = !wanted;
  if (!wanted) return;
  bar.element.className = `bar ${wanted.kind}`;
  bar.element.dataset.status = wanted.status;
  bar.element.title = wanted.title;
  bar.element.style.left = `${wanted.left.toFixed(3)}%`;
  bar.element.style.width = `${wanted.width.toFixed(3)}%`;
}

function barsOf(node, scene) {
  if (!node.attempts.length && node.children.length) return [wholeBar(node, scene)];
  const { scale } = scene;
  const bars = [];
  const first = node.attempts.find(([, started]) => started !== null);
  const { terminal } = scene.vocabulary.status(node.status);
  if (!node.attempts.length && terminal) {
    return [{ ...place(scale, node.spawned, node.spawned), kind: "", status: node.status,
      title: "ended without an attempt" }];
  }
  if (first || (!terminal && scale.now !== null)) {
    const wait = place(scale, node.spawned, first ? first[1] : null);
    if (wait.width > 0.2) {
      bars.push({ ...wait, kind: "wait", status: "", title: "waited to start" });
    }
  }
  for (const [number, started, ended, outcome, chosen] of node.attempts) {
    if (started === null) continue;
    const runs = ended === null;
    const kind = runs ? (scale.now === null ? "" : "open") : chosen ? "" : "past";
    const took = runs ? "not ended" : format.duration(ended - started);
    bars.push({
      ...place(scale, started, ended), kind: runs || node.attempts.length > 1 ? kind : "",
      status: outcome ?? node.status, title: `attempt ${number}: ${took}`,
    });
  }
  return bars;
}

// A node that only delegates has no attempt: its bar reaches over what it waits for.
function wholeBar(node, { scale, vocabulary }) {
  const isOver = vocabulary.status(node.status).terminal;
  return {
    ...place(scale, node.spawned, isOver ? node.lastEnd : null),
    kind: "whole", status: node.status, title: "from its start to the end of its branches",
  };
}

function marksOf(node, scene) {
  const marks = node.marks.map((code) => {
    const { word, short, tone, means } = scene.vocabulary.mark(code);
    return { word, short, tone, title: means, status: "" };
  });
  if (scene.vocabulary.status(node.status).terminal) {
    if (node.attempts.length > 1) marks.push(standingMark(node, marks.length > 0));
  } else {
    const mending = mendingMark(node, scene);
    if (mending) marks.unshift(mending);
  }
  if (node.retryOf) marks.push(retryMark(node, scene));
  return marks;
}

function standingMark(node, isBrief) {
  const stands = node.attempts.find(([, , , , chosen]) => chosen) ?? node.attempts.at(-1);
  const which = `${stands[0]} of ${node.attempts.length}`;
  return {
    word: isBrief ? which : `attempt ${which}`, short: which, status: stands[3] ?? node.status,
    title: `attempt ${which} stands`,
  };
}

// How the last attempt ended stays in sight until the next one has ended better. A queued attempt
// is not in the row yet.
function mendingMark(node, { vocabulary }) {
  const ended = node.attempts.filter(([, , , outcome]) => outcome !== null).at(-1);
  if (!ended) return null;
  const under = node.attempts.at(-1);
  const next = under === ended ? ended[0] + 1 : under[0];
  const { code, word, icon: sign, failed } = vocabulary.status(ended[3]);
  const state = vocabulary.status(node.status).word;
  return {
    word: failed ? `${word}, attempt ${next}` : `attempt ${next}`, short: `attempt ${next}`,
    status: failed ? code : node.status, icon: failed ? sign : "",
    title: `attempt ${ended[0]}: ${word}; attempt ${next} is ${state}`,
  };
}

function retryMark(node, { model }) {
  const siblings = node.up ? node.up.children : model.roots;
  const above = siblings[siblings.indexOf(node) - 1];
  const original = model.nodes.get(node.retryOf);
  const word = above && above.id === node.retryOf ? "retry of the above" : "retry";
  return { word, short: "retry", status: "", title: original ? `replaces ${visible(original.role)}, which ended` : "" };
}

// `short` is what a narrow row shows instead of the words; see css/tree.css.
function markElement({ word, short, tone, title, status, icon: sign }) {
  const mark = make("span", { className: "mark", title }, make("span", { className: "words", text: word }));
  if (sign) mark.prepend(icon(sign));
  if (short && short !== word) mark.dataset.short = short;
  if (tone) mark.dataset.tone = tone;
  if (status) mark.dataset.status = status;
  return mark;
}

/** The failed statuses below a node with their counts, worst first. */
export function rollUp(node, vocabulary) {
  return [...node.below]
    .filter(([code]) => vocabulary.isFailed(code))
    .sort(([a], [b]) => vocabulary.status(a).severity - vocabulary.status(b).severity);
}

const rollText = (rolled, vocabulary) =>
  rolled.map(([code, count]) => `${count} ${vocabulary.status(code).word}`).join(", ");

function rollDot([code]) {
  const dot = make("i");
  dot.dataset.status = code;
  return dot;
}

function descendants(node) {
  let sum = 0;
  for (const count of node.below.values()) sum += count;
  return sum;
}

function labelOf(node, status, marks, rolled, scene) {
  const parts = [node.role, node.title, status.word];
  if (rolled.length) parts.push(`below: ${rollText(rolled, scene.vocabulary)}`);
  parts.push(...marks.map((mark) => mark.word));
  parts.push(node.tokens === null ? "tokens unknown" : `${format.tokens(node.tokens)} tokens`);
  return visible(parts.filter(Boolean).join(", "));
}

function writeFound(element, text, find) {
  const at = find ? text.toLowerCase().indexOf(find) : -1;
  if (at < 0) {
    element.textContent = text;
    return;
  }
  const end = at + find.length;
  element.replaceChildren(text.slice(0, at), make("mark", { text: text.slice(at, end) }), text.slice(end));
}

function put(row, key, value, write) {
  if (row.shown[key] === value) return;
  row.shown[key] = value;
  write(value);
}

function setOrRemove(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}
