// Small helpers for the document: inert data blocks, icons, elements.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** The data of a json_script block; undefined when the page has none of that name. */
export function readJson(id) {
  const block = byId(id);
  return block ? JSON.parse(block.textContent) : undefined;
}

/** An element with text and attributes; data never becomes markup. */
export function make(tag, { className, text, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** An icon of the page's sprite. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** Whether a key press belongs to something one types into. */
export const isTyping = (event) =>
  event.target instanceof HTMLElement &&
  (event.target.isContentEditable || /^(input|textarea|select)$/i.test(event.target.tagName));

/** Whether a click asks for something else than "here": another tab, a download, a selection. */
export const isPlainClick = (event) =>
  event.button === 0 && !event.defaultPrevented &&
  !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
