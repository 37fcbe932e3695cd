// The window onto the tree: only the rows one can see (and the active one) are in the document.
// Everything is drawn in one animation frame, however many updates came before it.

import { make } from "../page.js";
import { fillLane, fillRow, makeRow } from "./row.js";
import { makeScale, ruler } from "./scale.js";

const OVERSCAN = 6;
const MOST_ROWS = 140;
const POOL = 40;
const NARROW = 900;

export class TreeView {
  constructor(scroller, model, vocabulary) {
    this.scroller = scroller;
    this.rows = scroller.querySelector(".rows");
    this.ticks = scroller.querySelector(".ticks");
    this.model = model;
    this.vocabulary = vocabulary;
    this.active = null;
    this.selected = null;
    this.clock = () => Date.now();
    this.isLive = true;
    this.live = new Map();
    this.pool = [];
    this.dirty = new Set();
    this.allDirty = true;
    this.shapeDirty = true;
    this.queued = false;
    this.measure = { top: 0, height: 0, row: 30, lane: 0, indent: 18 };
    this.#watch();
  }

  /** Asks for a redraw in the next frame. `changed` names nodes whose rows must be filled again. */
  invalidate({ changed, all = false, shape = false } = {}) {
    if (changed) for (const id of changed) this.dirty.add(id);
    if (all) this.allDirty = true;
    if (shape) this.shapeDirty = true;
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = false;
      this.#draw();
    });
  }

  setActive(id, { scroll = true } = {}) {
    if (id === this.active) return;
    const changed = [this.active, id].filter((one) => one !== null);
    this.active = id;
    if (scroll) this.scrollTo(id);
    this.invalidate({ changed });
  }

  setSelected(id) {
    const changed = [this.selected, id].filter((one) => one !== null);
    this.selected = id;
    this.invalidate({ changed });
  }

  /** Brings a row into sight with the least movement. */
  scrollTo(id) {
    const index = this.model.indexOf(id);
    if (index < 0) return;
    this.#resize();
    const { row, height } = this.measure;
    const y = index * row;
    let top = this.measure.top;
    if (y < top) top = y;
    else if (y + row > top + height) top = y + row - height;
    if (top === this.measure.top) return;
    this.measure.top = top;
    this.scroller.scrollTop = top;
  }

  /** Rows that fit into the window: how far a page key goes. */
  get pageSize() {
    return Math.max(1, Math.floor(this.measure.height / this.measure.row) - 1);
  }

  #watch() {
    this.scroller.addEventListener("scroll", () => {
      this.measure.top = this.scroller.scrollTop;
      this.invalidate();
    }, { passive: true });
    new ResizeObserver(() => {
      this.#read();
      this.invalidate({ all: true });
    }).observe(this.scroller);
    this.#read();
  }

  #read() {
    const style = getComputedStyle(this.scroller);
    this.measure = {
      top: this.scroller.scrollTop,
      height: this.scroller.clientHeight - this.ticks.parentElement.offsetHeight,
      row: parseFloat(style.getPropertyValue("--row")) || 30,
      lane: this.ticks.clientWidth,
      indent: window.innerWidth < NARROW ? 13 : 18,
    };
  }

  #draw() {
    if (this.shapeDirty || this.model.flatIsOld) this.#resize();
    const flat = this.model.visible();
    const scene = this.#scene();
    this.#drawRuler(scene.scale);
    const [from, to] = this.#window(flat.length);
    const wanted = new Map();
    for (let i = from; i < to; i += 1) wanted.set(flat[i].id, i);
    const pinned = this.model.indexOf(this.active);
    if (pinned >= 0) wanted.set(this.active, pinned);

    for (const [id, row] of this.live) if (!wanted.has(id)) this.#retire(id, row);
    const arrivals = document.createDocumentFragment();
    for (const [id, index] of wanted) this.#drawRow(id, flat[index], index, scene, arrivals);
    this.rows.append(arrivals);
    this.#trim();
    this.#announce();
    this.dirty.clear();
    this.allDirty = this.shapeDirty = false;
  }

  #drawRow(id, node, index, scene, arrivals) {
    let row = this.live.get(id);
    const isNew = row === undefined;
    if (isNew) {
      row = this.pool.pop() ?? makeRow();
      this.live.set(id, row);
      if (!row.element.isConnected) arrivals.append(row.element);
      row.element.hidden = false;
    }
    if (row.index !== index || isNew) {
      row.index = index;
      row.element.style.transform = `translateY(${index * this.measure.row}px)`;
    }
    if (isNew || this.allDirty || this.shapeDirty || this.dirty.has(id)) {
      scene.position = positionOf(node, this.model);
      fillRow(row, node, scene);
    } else {
      fillLane(row, node, scene);
    }
  }

  #retire(id, row) {
    this.live.delete(id);
    row.element.hidden = true;
    row.element.removeAttribute("id");
    row.shown.id = undefined;
    this.pool.push(row);
  }

  #trim() {
    while (this.pool.length > POOL || (this.pool.length && this.live.size + this.pool.length > MOST_ROWS)) {
      this.pool.pop().element.remove();
    }
  }

  // A tree that shrinks under the reader leaves the scroll place behind its end until the browser
  // has laid the rows out again.
  #window(count) {
    const { height, row } = this.measure;
    const top = Math.max(0, Math.min(this.measure.top, count * row - height));
    const from = Math.max(0, Math.floor(top / row) - OVERSCAN);
    const to = Math.min(count, Math.ceil((top + height) / row) + OVERSCAN, from + MOST_ROWS - 1);
    return [from, to];
  }

  #scene() {
    const { model, vocabulary, active, selected } = this;
    const scale = makeScale(model.timeSpan(), this.clock(), this.isLive);
    const find = model.filter.text.trim().toLowerCase();
    return { model, vocabulary, active, selected, scale, find, indent: this.measure.indent };
  }

  #resize() {
    const height = this.model.visible().length * this.measure.row;
    if (this.height === height) return;
    this.height = height;
    this.rows.style.height = `${height}px`;
  }

  #drawRuler(scale) {
    const { ticks, distance } = ruler(scale, this.measure.lane);
    const key = ticks.map((tick) => `${tick.label}@${tick.left.toFixed(2)}`).join();
    if (key === this.rulerKey) return;
    this.rulerKey = key;
    this.rows.style.setProperty("--tick", `${distance}%`);
    this.ticks.replaceChildren(...ticks.map((tick) => {
      const label = make("span", { text: tick.label });
      label.style.left = `${tick.left}%`;
      return label;
    }));
  }

  #announce() {
    const row = this.live.get(this.active);
    if (row) this.rows.setAttribute("aria-activedescendant", row.element.id);
    else this.rows.removeAttribute("aria-activedescendant");
  }
}

function positionOf(node, model) {
  const siblings = node.up ? node.up.children : model.roots;
  return { at: siblings.indexOf(node) + 1, of: siblings.length };
}
