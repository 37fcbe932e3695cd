// The head of the run page: node counts from the tree at once, the rest from the server.

import * as format from "../format.js";
import { byId, icon, make } from "../page.js";

const REFRESH_MS = 2_000;

export class Summary {
  constructor(url, vocabulary) {
    this.url = url;
    this.vocabulary = vocabulary;
    this.element = byId("summary");
    this.element.addEventListener("htmx:beforeOnLoad", (event) => {
      if (event.detail.xhr.status === 401) event.preventDefault();
    });
    this.element.addEventListener("htmx:afterSwap", () => {
      this.key = null;
      if (this.model) this.count(this.model);
    });
  }

  /** Writes how many nodes stand in which status. */
  count(model) {
    this.model = model;
    const known = this.vocabulary.order.filter((code) => model.counts.has(code));
    const codes = [...known, ...[...model.counts.keys()].filter((code) => !known.includes(code))];
    const key = codes.map((code) => `${code} ${model.counts.get(code)}`).join();
    if (key === this.key) return;
    this.key = key;
    byId("node-counts").replaceChildren(...codes.map((code) => this.#item(code, model.counts.get(code))));
  }

  /** Asks for the tiles again, at most every two seconds. */
  refresh() {
    if (this.waiting) return;
    const since = Date.now() - (this.askedAt ?? 0);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.askedAt = Date.now();
      const asked = window.htmx.ajax("GET", this.url, {
        source: this.element, target: this.element, swap: "innerHTML settle:0ms swap:0ms show:none",
      });
      asked.catch(() => {}); // the next change of the tree asks again
    }, Math.max(0, REFRESH_MS - since));
  }

  #item(code, count) {
    const { icon: name, word } = this.vocabulary.status(code);
    const item = make("span", { className: "s" }, icon(name), `${format.count(count)} ${word}`);
    item.dataset.status = code;
    return item;
  }
}
