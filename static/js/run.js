// The run page: skeleton, live rows, tree, panel and head put together.

import { keepDraft } from "./draft.js";
import { Indicator } from "./live/indicator.js";
import { LiveFeed } from "./live/socket.js";
import { byId, isTyping, readJson } from "./page.js";
import { Panel } from "./run/panel.js";
import { Summary } from "./run/summary.js";
import { Tree } from "./tree/index.js";
import { pageKeys } from "./tree/keys.js";
import { Vocabulary } from "./vocabulary.js";
import { visible } from "./worker_text.js";

const CLOCK_MS = 1000;
const LOOK_AGAIN_MS = 3000; // what a running attempt does is no event of the ledger
const FOLLOW_MS = 180; // a cursor that runs through the tree asks for no node on its way

const page = readJson("run-page");
const vocabulary = Vocabulary.fromPage();
const indicator = new Indicator();
const summary = new Summary(page.urls.summary, vocabulary);
const tree = new Tree(byId("tree"), vocabulary, { onOpen: openNode, onMove: follow });
const panel = new Panel({
  urlOf: (node) => page.urls.node.replace(page.nodeSlot, encodeURIComponent(node)),
  nameOf: (id) => {
    const node = tree.model.nodes.get(id);
    return node ? visible(`${node.role} ${node.title}`) : "Node";
  },
  onSelect: (id) => tree.select(id),
});
const skeleton = readJson("skeleton");
const feed = new LiveFeed({
  urls: page.urls,
  seq: skeleton ? skeleton.seq : null,
  terminal: page.terminal,
  on: {
    tree: (whole) => tree.load(whole),
    rows: (rows, columns) => tree.apply(rows, columns),
    progress: (frame) => tree.setLive(!frame.terminal),
    state: (view) => indicator.show(view),
  },
});

tree.view.clock = () => feed.now();
tree.view.isLive = !page.terminal;
feed.clockOffset = page.now_ms - Date.now();
tree.onChange(({ changed, whole }) => {
  byId("tree-loading")?.remove();
  summary.count(tree.model);
  if (!whole) summary.refresh();
  if (panel.node && changed.has(panel.node) && !whole) panel.refresh();
});
if (skeleton) tree.load(skeleton);
if (panel.node) tree.select(panel.node);
panel.onClose = () => tree.focus();
feed.start();
if (document.referrer.startsWith(new URL(page.urls.newRun, location.href).href)) keepDraft("");
setInterval(() => tree.view.isLive && !document.hidden && tree.view.invalidate(), CLOCK_MS);
setInterval(() => {
  const node = tree.model.nodes.get(panel.node);
  const goesOn = node && !vocabulary.status(node.status).terminal;
  if (goesOn && !document.hidden && feed.state === "live") panel.refresh();
}, LOOK_AGAIN_MS);

byId("live").addEventListener("click", () => feed.togglePause());
byId("next-failure").addEventListener("click", () => goToFailure());
pageKeys({
  "/": () => byId("find").select(),
  n: () => goToFailure(),
  "[": () => tree.foldAll(true),
  "]": () => tree.foldAll(false),
  p: () => feed.togglePause(),
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || isTyping(event) || document.querySelector("dialog[open]")) return;
  if (!panel.node) return;
  panel.close();
  tree.focus();
});

// The first press opens a node and leaves the cursor in the tree; the second goes into it.
function openNode(id) {
  panel.open(id, { focus: panel.covers || panel.node === id });
  if (!panel.covers && document.activeElement !== panel.element) tree.focus();
}

let following = 0;
function follow(id) {
  clearTimeout(following);
  if (!panel.node || panel.node === id) return;
  following = setTimeout(() => {
    const isHere = tree.view.active === id && document.activeElement === tree.rows;
    if (panel.node && isHere) panel.open(id, { focus: false, goesAlong: true });
  }, FOLLOW_MS);
}

function goToFailure() {
  if (!tree.nextFailure()) byId("live-spoken").textContent = "nothing has failed";
}
