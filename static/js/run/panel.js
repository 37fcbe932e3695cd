// The node panel: a fragment of the server's, kept in step with the address and with the node.

import { byId, isPlainClick, make } from "../page.js";

const SETTLE_MS = 350;

export class Panel {
  /** `urlOf(node)` is where a node's fragment is, `nameOf(node)` its words; `onSelect(id or null)`
   * hears what is open. */
  constructor({ urlOf, nameOf, onSelect }) {
    this.work = byId("work");
    this.element = byId("panel");
    this.urlOf = urlOf;
    this.nameOf = nameOf;
    this.onSelect = onSelect;
    this.shown = fromAddress();
    this.wanted = null;
    this.html = null;
    this.work.addEventListener("click", (event) => this.#click(event));
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("htmx:beforeOnLoad", (event) => this.#staysHere(event));
    this.element.addEventListener("htmx:beforeSwap", (event) => this.#beforeSwap(event));
    this.element.addEventListener("htmx:afterSwap", () => this.#afterSwap());
    this.element.addEventListener("htmx:responseError", (event) => this.#failed(event.detail.xhr.status));
    this.element.addEventListener("htmx:sendError", () => this.#failed(0));
    document.addEventListener("selectionchange", () => this.#refreshWhenFree());
    window.addEventListener("popstate", () => this.#follow(fromAddress()));
    if (this.shown.node) this.onSelect(this.shown.node);
    this.#showTab();
  }

  get node() {
    return this.shown.node;
  }

  /** On a narrow screen the panel covers the tree. */
  get covers() {
    return getComputedStyle(this.element).position === "fixed";
  }

  /** `goesAlong`: the cursor of the tree led here, which is no step to go back to. */
  open(node, { tab = this.shown.tab, attempt = null, focus = true, goesAlong = false } = {}) {
    const next = { node, tab, attempt };
    this.focusAfter = focus;
    if (same(next, this.shown)) {
      if (focus) this.element.focus({ preventScroll: true });
      return;
    }
    if (goesAlong) history.replaceState(null, "", addressOf(next));
    else history.pushState(null, "", addressOf(next));
    this.#follow(next);
  }

  close() {
    if (!this.shown.node) return;
    history.pushState(null, "", addressOf({ node: null }));
    this.#follow({ node: null, tab: this.shown.tab, attempt: null });
  }

  /** Fetches the open node again, unless somebody is selecting text in it: then afterwards. */
  refresh() {
    if (!this.shown.node) return;
    this.isOld = true;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.#refreshWhenFree(), SETTLE_MS);
  }

  #refreshWhenFree() {
    if (!this.isOld || this.#isBeingRead()) return;
    this.isOld = false;
    this.#load({ isRefresh: true });
  }

  #isBeingRead() {
    const selection = document.getSelection();
    return selection !== null && !selection.isCollapsed && this.element.contains(selection.anchorNode);
  }

  #follow(next) {
    const isOtherNode = next.node !== this.shown.node;
    this.shown = next;
    this.work.dataset.panel = next.node ? "open" : "";
    this.element.hidden = !next.node;
    if (isOtherNode) this.onSelect(next.node);
    if (next.node) this.#load({ isRefresh: false, toTop: isOtherNode });
  }

  #load({ isRefresh, toTop = false }) {
    const url = new URL(this.urlOf(this.shown.node), location.href);
    if (this.shown.tab) url.searchParams.set("tab", this.shown.tab);
    if (this.shown.attempt) url.searchParams.set("attempt", this.shown.attempt);
    this.wanted = { path: url.pathname + url.search, isRefresh, toTop };
    this.element.setAttribute("aria-busy", "true");
    const asked = window.htmx.ajax("GET", this.wanted.path, {
      source: this.element, target: this.element, swap: "innerHTML settle:0ms swap:0ms show:none",
    });
    asked.catch(() => {}); // htmx has told of it by an event: see `#failed`
  }

  // A session that ended must not take the page away from a person who only reads.
  #staysHere(event) {
    if (event.detail.xhr.status === 401 && this.wanted?.isRefresh) event.preventDefault();
  }

  #beforeSwap(event) {
    const { xhr, pathInfo, isError } = event.detail;
    if (event.detail.target !== this.element) return;
    const isCurrent = this.wanted && pathInfo.requestPath === this.wanted.path;
    this.element.removeAttribute("aria-busy");
    if (isError) return;
    if (!isCurrent || (this.wanted.isRefresh && xhr.responseText === this.html)) {
      event.detail.shouldSwap = false;
      return;
    }
    this.html = xhr.responseText;
    this.kept = this.wanted.toTop ? null : keep(this.element);
  }

  #afterSwap() {
    if (this.kept) restore(this.element, this.kept);
    else this.element.scrollTop = 0;
    this.kept = null;
    this.#showTab();
    if (this.focusAfter) this.element.focus({ preventScroll: true });
    this.focusAfter = false;
  }

  // On a narrow panel the tabs scroll sideways; the open one must be in sight.
  #showTab() {
    const tab = this.element.querySelector("[role=tab][aria-selected=true]");
    const bar = tab?.parentElement;
    if (!bar) return;
    const left = tab.offsetLeft - bar.offsetLeft;
    const isInSight = left >= bar.scrollLeft && left + tab.offsetWidth <= bar.scrollLeft + bar.clientWidth;
    if (!isInSight) bar.scrollLeft = left - 40;
  }

  #failed(status) {
    this.element.removeAttribute("aria-busy");
    if (!this.wanted || this.wanted.isRefresh) return;
    const words = { 0: "The server did not answer.", 401: "You are signed out.", 404: "There is no such node in this run." };
    const again = make("button", { className: "button", type: "button", text: "Try again" });
    again.addEventListener("click", () => this.#load({ isRefresh: false }));
    const text = make("p", { text: words[status] ?? `The server answered ${status}.` });
    this.html = null;
    this.#keepTitle();
    this.element.querySelector(".panel-in").append(make("div", { className: "panel-fault", role: "alert" }, text, again));
    if (this.focusAfter) this.element.focus({ preventScroll: true });
    this.focusAfter = false;
  }

  // The way out and the name of what was asked for stay, whatever becomes of the rest.
  #keepTitle() {
    const way = (className, label) => make("a", {
      className, text: label, href: addressOf({ node: null }).href, "data-panel": "close",
    });
    const close = way("close", "×");
    close.setAttribute("aria-label", "Close the node");
    const title = make("div", { className: "title" }, make("h2", {}, make("bdi", { text: this.nameOf(this.shown.node) })), close);
    this.element.replaceChildren(make("div", { className: "panel-in" }, way("back", "Tree"), title));
  }

  #click(event) {
    if (!isPlainClick(event)) return;
    const link = event.target.closest("a[data-panel]");
    if (!link) return;
    event.preventDefault();
    if (link.dataset.panel === "close") {
      const from = this.shown.node;
      this.close();
      this.onClose?.(from);
      return;
    }
    const asked = new URL(link.href).searchParams;
    this.open(asked.get("node"), { tab: asked.get("tab"), attempt: asked.get("attempt"), focus: false });
  }

  #key(event) {
    const tab = event.target.closest?.("[role=tab]");
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (tab && step) {
      const tabs = [...this.element.querySelectorAll("[role=tab]")];
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      event.preventDefault();
      next.focus();
      next.click();
    }
  }
}

function fromAddress() {
  const asked = new URLSearchParams(location.search);
  return { node: asked.get("node"), tab: asked.get("tab"), attempt: asked.get("attempt") };
}

function addressOf({ node, tab, attempt }) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries({ node, tab, attempt })) {
    if (node && value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  return url;
}

const same = (a, b) =>
  a.node === b.node && (a.tab ?? null) === (b.tab ?? null) && (a.attempt ?? null) === (b.attempt ?? null);

// What a person has set up inside the panel: scroll, opened entries, the focus.
function keep(panel) {
  const marked = (selector) => [...panel.querySelectorAll(selector)];
  return {
    top: panel.scrollTop,
    open: new Set(marked("details[open][data-keep]").map((one) => one.dataset.keep)),
    scrolled: new Map(marked(".text[data-keep]").map((one) => [one.dataset.keep, one.scrollTop])),
    focus: panel.contains(document.activeElement) ? document.activeElement.id : null,
  };
}

function restore(panel, kept) {
  for (const one of panel.querySelectorAll("details[data-keep]")) {
    if (kept.open.has(one.dataset.keep)) one.open = true;
  }
  for (const one of panel.querySelectorAll(".text[data-keep]")) {
    one.scrollTop = kept.scrolled.get(one.dataset.keep) ?? 0;
  }
  panel.scrollTop = kept.top;
  if (kept.focus) byId(kept.focus)?.focus({ preventScroll: true });
}
