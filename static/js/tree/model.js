// The tree as data: rows by id, children in order, folds, filters, counts. No document here.
// Rows in any order and any number of times give the same tree as a fresh skeleton.

export const COLUMNS = [
  "id", "parent", "retry_of", "kind", "depth", "branch", "role", "title", "status", "reason",
  "tokens", "attempts", "marks", "spawned",
];

export class TreeModel {
  constructor(vocabulary) {
    this.vocabulary = vocabulary;
    this.seq = 0;
    this.openByHand = new Map();
    this.everythingFolded = false;
    this.filter = { text: "", groups: new Set() };
    this.clear();
  }

  clear() {
    this.nodes = new Map();
    this.roots = [];
    this.counts = new Map();
    this.flat = [];
    this.place = new Map();
    this.matches = null;
    this.flatIsOld = true;
    this.span = null;
  }

  /** Takes a whole skeleton; folds, filters and selection, kept elsewhere by id, stay. */
  load({ seq, columns = COLUMNS, rows }) {
    this.clear();
    this.seq = seq;
    return this.apply(rows, columns);
  }

  /** Upserts rows. Returns the ids that changed and whether the shape of the tree did. */
  apply(rows, columns = COLUMNS) {
    const at = columns === COLUMNS ? COLUMN_AT : columnIndex(columns);
    const changed = new Set();
    const added = [];
    for (const row of rows) {
      const id = row[at.id];
      const node = this.nodes.get(id);
      if (node) this.#update(node, row, at);
      else added.push(this.#create(id, row, at));
      changed.add(id);
    }
    if (added.length) this.#link(added);
    if (added.length || this.isFiltered) this.flatIsOld = true;
    return { changed, added: added.map((node) => node.id), grew: added.length > 0 };
  }

  get isFiltered() {
    return this.filter.text !== "" || this.filter.groups.size > 0;
  }

  isOpen(node) {
    return this.openByHand.get(node.id) ?? !this.everythingFolded;
  }

  setOpen(id, open) {
    const node = this.nodes.get(id);
    if (!node || !node.children.length || this.isOpen(node) === open) return false;
    this.openByHand.set(id, open);
    this.flatIsOld = true;
    return true;
  }

  foldAll(folded) {
    this.openByHand.clear();
    this.everythingFolded = folded;
    if (folded) for (const root of this.roots) this.openByHand.set(root.id, true);
    this.flatIsOld = true;
  }

  /** Opens every fold above a node, so that it can be seen. */
  reveal(id) {
    for (let node = this.nodes.get(id)?.up; node; node = node.up) this.setOpen(node.id, true);
  }

  setFilter(change) {
    this.filter = { ...this.filter, ...change };
    this.flatIsOld = true;
  }

  /** The visible nodes in order; with a filter, what matches and what stands above it. */
  visible() {
    if (this.flatIsOld) this.#flatten();
    return this.flat;
  }

  indexOf(id) {
    this.visible();
    return this.place.get(id) ?? -1;
  }

  matchesFilter(node) {
    return this.matches === null || this.matches.has(node.id);
  }

  countOf(group) {
    let sum = 0;
    for (const [status, count] of this.counts) {
      if (this.vocabulary.status(status).group === group) sum += count;
    }
    return sum;
  }

  /** The statuses counted under a group, as rows say them: "1 tool error, 2 lost". */
  wordsOf(group) {
    return [...this.counts]
      .map(([code, count]) => ({ count, ...this.vocabulary.status(code) }))
      .filter((one) => one.group === group)
      .map(({ count, word }) => `${count} ${word}`)
      .join(", ");
  }

  /** The next failed node after `id` in the order of the whole tree, folds ignored; wraps. */
  nextFailure(id) {
    const order = [...this.everyNode()];
    const start = order.findIndex((node) => node.id === id);
    for (let step = 1; step <= order.length; step += 1) {
      const node = order[(start + step) % order.length];
      if (this.vocabulary.isFailed(node.status)) return node.id;
    }
    return null;
  }

  *everyNode() {
    const stack = [...this.roots].reverse();
    while (stack.length) {
      const node = stack.pop();
      yield node;
      for (let i = node.children.length - 1; i >= 0; i -= 1) stack.push(node.children[i]);
    }
  }

  /** From the first spawn to the last end known, in epoch ms; null while there is nothing. */
  timeSpan() {
    if (this.span === null && this.nodes.size) {
      let from = Infinity;
      let to = -Infinity;
      for (const node of this.nodes.values()) {
        from = Math.min(from, node.spawned);
        to = Math.max(to, lastMoment(node));
      }
      this.span = { from, to };
    }
    return this.span;
  }

  #create(id, row, at) {
    const node = { id, up: null, children: [], level: 1, below: new Map(), order: null, lastEnd: 0 };
    assign(node, row, at);
    this.nodes.set(id, node);
    this.#count(node.status, 1);
    this.#stretch(node);
    return node;
  }

  #update(node, row, at) {
    const before = node.status;
    assign(node, row, at);
    this.#stretch(node);
    if (node.status === before) return;
    this.#count(before, -1);
    this.#count(node.status, 1);
    this.#countBelow(node.up, before, -1);
    this.#countBelow(node.up, node.status, 1);
  }

  // A child may be told of before its parent: such rows stand at the top until it comes.
  #link(added) {
    const parents = new Set();
    const waiting = this.roots.filter((node) => node.parent !== null);
    this.roots = this.roots.filter((node) => node.parent === null);
    for (const node of [...waiting, ...added]) {
      const parent = this.nodes.get(node.parent) ?? null;
      node.up = parent;
      (parent ? parent.children : this.roots).push(node);
      parents.add(parent);
    }
    for (const parent of parents) this.#sort(parent ? parent.children : this.roots);
    this.#relevel();
  }

  #sort(siblings) {
    for (const node of siblings) node.order = this.#orderKey(node);
    siblings.sort(compareOrder);
  }

  // A node that replaces another one stands right below it.
  #orderKey(node) {
    let first = node;
    const seen = new Set();
    while (first.retryOf && this.nodes.has(first.retryOf) && !seen.has(first.id)) {
      seen.add(first.id);
      first = this.nodes.get(first.retryOf);
    }
    return [first.spawned, first.branch ?? -1, first.id, node.spawned, node.id];
  }

  #relevel() {
    for (const node of this.nodes.values()) node.below.clear();
    for (const node of this.everyNode()) {
      node.level = node.up ? node.up.level + 1 : 1;
      this.#countBelow(node.up, node.status, 1);
      this.#stretchUp(node);
    }
  }

  #count(status, by) {
    add(this.counts, status, by);
  }

  #countBelow(node, status, by) {
    for (let above = node; above; above = above.up) add(above.below, status, by);
  }

  #stretchUp({ up, lastEnd }) {
    for (let above = up; above && above.lastEnd < lastEnd; above = above.up) above.lastEnd = lastEnd;
  }

  #stretch(node) {
    const last = lastMoment(node);
    node.lastEnd = Math.max(node.lastEnd, last);
    this.#stretchUp(node);
    if (this.span === null) return;
    this.span.from = Math.min(this.span.from, node.spawned);
    this.span.to = Math.max(this.span.to, last);
  }

  #flatten() {
    this.matches = this.isFiltered ? this.#findMatches() : null;
    const shown = this.matches && withAncestors(this.matches, this.nodes);
    this.flat = [];
    this.place = new Map();
    const stack = [...this.roots].reverse();
    while (stack.length) {
      const node = stack.pop();
      if (shown && !shown.has(node.id)) continue;
      this.place.set(node.id, this.flat.length);
      this.flat.push(node);
      if (!shown && !this.isOpen(node)) continue;
      for (let i = node.children.length - 1; i >= 0; i -= 1) stack.push(node.children[i]);
    }
    this.flatIsOld = false;
  }

  #findMatches() {
    const { text, groups } = this.filter;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = new Set();
    for (const node of this.nodes.values()) {
      const { group, word } = this.vocabulary.status(node.status);
      if (groups.size && !groups.has(group)) continue;
      if (words.length && !words.every((part) => haystack(node, word).includes(part))) continue;
      found.add(node.id);
    }
    return found;
  }
}

const columnIndex = (columns) => Object.fromEntries(columns.map((name, i) => [name, i]));
const COLUMN_AT = columnIndex(COLUMNS);

function assign(node, row, at) {
  node.parent = row[at.parent];
  node.retryOf = row[at.retry_of];
  node.kind = row[at.kind];
  node.branch = row[at.branch];
  node.role = row[at.role] ?? "";
  node.title = row[at.title] ?? "";
  node.status = row[at.status];
  node.reason = row[at.reason] ?? "";
  node.tokens = row[at.tokens];
  node.attempts = row[at.attempts] ?? [];
  node.marks = row[at.marks] ?? [];
  node.spawned = row[at.spawned];
}

const haystack = (node, word) => `${node.role} ${node.title} ${word} ${node.id}`.toLowerCase();

function lastMoment(node) {
  let last = node.spawned;
  for (const [, started, ended] of node.attempts) last = Math.max(last, ended ?? started ?? last);
  return last;
}

function withAncestors(ids, nodes) {
  const all = new Set(ids);
  for (const id of ids) {
    for (let node = nodes.get(id).up; node && !all.has(node.id); node = node.up) all.add(node.id);
  }
  return all;
}

function compareOrder(a, b) {
  for (let i = 0; i < a.order.length; i += 1) {
    if (a.order[i] < b.order[i]) return -1;
    if (a.order[i] > b.order[i]) return 1;
  }
  return 0;
}

function add(counts, key, by) {
  const next = (counts.get(key) ?? 0) + by;
  if (next) counts.set(key, next);
  else counts.delete(key);
}
