// The tree as a part of the page: model, window, filters and keys put together.

import { visible } from "../worker_text.js";
import { Filters } from "./filters.js";
import { treeKeys } from "./keys.js";
import { TreeModel } from "./model.js";
import { TreeView } from "./view.js";

export class Tree {
  /** `onOpen(id)` is called when a person opens a node, `onMove(id)` when the cursor has moved. */
  constructor(root, vocabulary, { onOpen, onMove }) {
    this.model = new TreeModel(vocabulary);
    this.view = new TreeView(root.querySelector(".scroller"), this.model, vocabulary);
    this.rows = this.view.rows;
    this.onOpen = onOpen;
    this.onMove = onMove;
    this.filters = new Filters(root.querySelector(".tree-bar"), this.model, vocabulary, (how = {}) => {
      this.view.invalidate({ all: true, shape: true });
      if (how.enter) this.focusFirstMatch();
    });
    this.listeners = [];
    treeKeys(this.rows, this.#moves());
    this.rows.addEventListener("click", (event) => this.#click(event));
    this.rows.addEventListener("focus", () => this.#focused());
  }

  load(skeleton) {
    const change = this.model.load(skeleton);
    this.#afterChange({ ...change, whole: true });
  }

  apply(rows, columns) {
    this.#afterChange(this.model.apply(rows, columns));
  }

  /** Calls back with what changed after rows were taken. */
  onChange(listener) {
    this.listeners.push(listener);
  }

  select(id) {
    this.view.setSelected(id);
    if (id === null) return;
    this.model.reveal(id);
    this.view.setActive(id);
    this.view.scrollTo(id);
    this.view.invalidate({ shape: true });
  }

  setLive(isLive) {
    if (this.view.isLive === isLive) return;
    this.view.isLive = isLive;
    this.view.invalidate();
  }

  focus() {
    this.rows.focus({ preventScroll: true });
  }

  foldAll(folded) {
    this.model.foldAll(folded);
    if (this.model.indexOf(this.view.active) < 0) this.#activate(this.#nearestShown(this.view.active));
    this.view.invalidate({ all: true, shape: true });
  }

  nextFailure() {
    const id = this.model.nextFailure(this.view.active);
    if (id === null) return false;
    if (this.model.isFiltered && this.model.indexOf(id) < 0) this.filters.clear();
    this.model.reveal(id);
    this.view.invalidate({ shape: true });
    this.#activate(id);
    this.focus();
    return true;
  }

  focusFirstMatch() {
    const first = this.model.visible().find((node) => this.model.matchesFilter(node));
    if (!first) return;
    this.#activate(first.id);
    this.focus();
  }

  #afterChange({ changed, added, grew, whole = false }) {
    if (this.view.active === null && this.model.roots.length) this.view.active = this.model.roots[0].id;
    const touched = new Set(changed);
    for (const id of changed) {
      for (let node = this.model.nodes.get(id).up; node; node = node.up) touched.add(node.id);
    }
    this.view.invalidate({ changed: touched, all: whole, shape: grew || whole });
    this.filters.update();
    for (const listener of this.listeners) listener({ changed, added, whole });
  }

  #moves() {
    const at = () => Math.max(0, this.model.indexOf(this.view.active));
    const to = (index) => {
      const flat = this.model.visible();
      if (flat.length) this.#activate(flat[Math.max(0, Math.min(flat.length - 1, index))].id);
    };
    const node = () => this.model.visible()[at()];
    return {
      step: (by) => to(at() + by),
      page: (by) => to(at() + by * this.view.pageSize),
      first: () => to(0),
      last: () => to(Infinity),
      open: () => node() && this.onOpen(node().id),
      into: () => this.#into(node(), to, at),
      out: () => this.#out(node()),
      openSiblings: () => this.#openSiblings(node()),
      startingWith: (typed) => this.#startingWith(typed, at()),
    };
  }

  #into(node, to, at) {
    if (!node || !node.children.length) return;
    if (this.model.isFiltered || this.model.isOpen(node)) to(at() + 1);
    else this.#fold(node, true);
  }

  #out(node) {
    if (!node) return;
    const folds = node.children.length && this.model.isOpen(node) && !this.model.isFiltered;
    if (folds) this.#fold(node, false);
    else if (node.up) this.#activate(node.up.id);
  }

  #openSiblings(node) {
    if (!node) return;
    for (const one of node.up ? node.up.children : this.model.roots) this.model.setOpen(one.id, true);
    this.view.invalidate({ all: true, shape: true });
  }

  #startingWith(typed, from) {
    const flat = this.model.visible();
    const start = typed.length > 1 ? from : from + 1;
    for (let i = 0; i < flat.length; i += 1) {
      const node = flat[(start + i) % flat.length];
      if (visible(`${node.role} ${node.title}`).toLowerCase().startsWith(typed)) {
        this.#activate(node.id);
        return;
      }
    }
  }

  #fold(node, open) {
    if (!this.model.setOpen(node.id, open)) return;
    if (this.model.indexOf(this.view.active) < 0) this.#activate(node.id);
    this.view.invalidate({ changed: [node.id], shape: true });
  }

  #nearestShown(id) {
    let node = this.model.nodes.get(id);
    while (node && this.model.indexOf(node.id) < 0) node = node.up;
    return node?.id ?? this.model.visible()[0]?.id ?? null;
  }

  #activate(id) {
    this.view.setActive(id);
    this.view.scrollTo(id);
    this.onMove(id);
  }

  #focused() {
    if (this.model.indexOf(this.view.active) < 0) this.#activate(this.#nearestShown(this.view.active));
    else this.view.scrollTo(this.view.active);
  }

  #click(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    const node = this.model.nodes.get(row.dataset.id);
    this.view.setActive(node.id, { scroll: false });
    if (event.target.closest(".twig") && node.children.length && !this.model.isFiltered) {
      this.#fold(node, !this.model.isOpen(node));
    } else this.onOpen(node.id);
  }
}
