// The bar over the tree: search, chips with counts, and the words when nothing matches.

import * as format from "../format.js";
import { byId, make } from "../page.js";

export class Filters {
  constructor(bar, model, vocabulary, onChange) {
    this.model = model;
    this.vocabulary = vocabulary;
    this.onChange = onChange;
    this.search = bar.querySelector("input");
    this.chips = new Map();
    this.#fromAddress();
    this.#makeChips(bar.querySelector(".chips"));
    this.search.addEventListener("input", () => this.set({ text: this.search.value.trim() }));
    this.search.addEventListener("keydown", (event) => this.#searchKey(event));
    byId("tree-clear").addEventListener("click", () => this.clear());
  }

  set(change) {
    this.model.setFilter(change);
    this.#toAddress();
    this.update();
    this.onChange();
  }

  clear() {
    this.search.value = "";
    this.set({ text: "", groups: new Set() });
  }

  toggle(group) {
    const groups = new Set(this.model.filter.groups);
    if (!groups.delete(group)) groups.add(group);
    this.set({ groups });
  }

  /** Writes the counts; a chip that counts nothing is away unless it is on. */
  update() {
    for (const [group, chip] of this.chips) {
      const count = this.model.countOf(group);
      const isOn = this.model.filter.groups.has(group);
      const words = this.model.wordsOf(group);
      const key = `${words} ${isOn}`;
      if (chip.key === key) continue;
      chip.key = key;
      chip.number.textContent = format.count(count);
      chip.element.title = words;
      chip.element.hidden = count === 0 && !isOn;
      chip.element.setAttribute("aria-pressed", String(isOn));
    }
    this.#updateEmpty();
  }

  #updateEmpty() {
    const nothing = this.model.isFiltered && this.model.visible().length === 0;
    byId("tree-nothing").hidden = !nothing;
    if (!nothing) return;
    const { text, groups } = this.model.filter;
    const words = this.vocabulary.groups.filter(({ code }) => groups.has(code)).map(({ word }) => word);
    const asked = [text && `“${text}”`, words.join(" or ")].filter(Boolean).join(" and ");
    byId("tree-asked").textContent = asked;
  }

  #makeChips(box) {
    for (const { code, word, lead } of this.vocabulary.groups) {
      const number = make("b");
      const element = make("button", { className: "chip", type: "button", "data-group": code });
      element.dataset.status = lead;
      element.append(make("i"), `${word} `, number);
      element.addEventListener("click", () => this.toggle(code));
      box.append(element);
      this.chips.set(code, { element, number, key: "" });
    }
  }

  #searchKey(event) {
    if (event.key === "Escape") {
      if (this.search.value) {
        this.search.value = "";
        this.set({ text: "" });
      } else this.search.blur();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      this.onChange({ enter: true });
    }
  }

  #fromAddress() {
    const asked = new URLSearchParams(location.search);
    const text = asked.get("find") ?? "";
    const known = new Set(this.vocabulary.groups.map(({ code }) => code));
    const groups = new Set((asked.get("show") ?? "").split(",").filter((code) => known.has(code)));
    this.search.value = text;
    this.model.setFilter({ text: text.trim(), groups });
  }

  #toAddress() {
    const url = new URL(location.href);
    const { text, groups } = this.model.filter;
    write(url, "find", text);
    write(url, "show", [...groups].join(","));
    history.replaceState(history.state, "", url);
  }
}

function write(url, name, value) {
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
}
