// A run's rows as they come. The socket only wakes the page up sooner: what counts is the cursor
// (`seq`), and whatever the socket misses is asked for over HTTP.

const QUIET_MS = 12_000;
const BEHIND_MS = 2_000;
const POLL_MS = 5_000;
const HIDDEN_MS = 60_000;
const FIRST_CONTACT_MS = 4_000;
const FETCH_MS = 15_000;
const BACKOFF_MS = [500, 5_000];
const CLOSED_FOR_GOOD = { 4401: "signed out", 4403: "forbidden", 4404: "gone" };
const REFUSED = { 401: "signed out", 403: "forbidden", 404: "gone" };

/** The wait before reconnecting: 0.5 s at first, at most 5 s, never the same for two pages. */
export function backoff(failures, random = Math.random) {
  const [least, most] = BACKOFF_MS;
  const cap = Math.min(most, least * 2 ** Math.min(failures, 10));
  return least + random() * (cap - least);
}

export class LiveFeed {
  /**
   * `urls`: {socket, rows, tree}. `on`: {rows(rows, columns), tree(skeleton), state(view),
   * progress(frame)}. A feed without a seq first fetches the whole tree.
   */
  constructor({ urls, seq = null, terminal = false, on }) {
    this.urls = urls;
    this.on = on;
    this.seq = seq;
    this.head = { seq: seq ?? 0, terminal };
    this.clockOffset = 0;
    this.startedAt = Date.now();
    this.heardAt = null;
    this.behindSince = null;
    this.lastPoll = Date.now();
    this.failures = 0;
    this.fault = null;
    this.isPaused = false;
    this.isHidden = false;
    this.fetching = null;
  }

  start() {
    this.timer = setInterval(() => this.#tick(), 1000);
    document.addEventListener("visibilitychange", () => this.#visibility());
    window.addEventListener("online", () => this.#reconnectNow());
    window.addEventListener("offline", () => this.#doubt());
    window.addEventListener("pageshow", (event) => event.persisted && this.#reconnectNow());
    window.addEventListener("pagehide", () => this.#drop());
    if (this.seq === null) this.catchUp({ whole: true }).then(() => this.#connect());
    else this.#connect();
    this.#tell();
  }

  /** The server's clock, as far as its frames tell. */
  now() {
    return Date.now() + this.clockOffset;
  }

  togglePause() {
    this.isPaused = !this.isPaused;
    if (!this.isPaused) this.catchUp();
    this.#tell();
  }

  /** "live", "catching up", "stale", "paused" or "final". */
  get state() {
    if (this.fault) return "stale";
    if (this.isPaused) return "paused";
    if (this.seq === null || this.fetching?.isVisible) return "catching up";
    if (this.head.terminal && this.seq >= this.head.seq) return "final";
    if (this.#isHeard()) return this.behindSince ? "catching up" : "live";
    if (this.heardAt === null && Date.now() - this.startedAt < FIRST_CONTACT_MS) return "catching up";
    return "stale";
  }

  /** Asks for what is past the cursor, or for the whole tree. One question at a time. */
  catchUp({ whole = false, quietly = false } = {}) {
    if (this.fetching && (this.fetching.whole || !whole)) return this.fetching.promise;
    const asked = { whole, isVisible: !quietly };
    asked.promise = (whole ? this.#fetchTree() : this.#fetchRows())
      .catch((error) => this.#fetchFailed(error))
      .finally(() => {
        if (this.fetching === asked) this.fetching = null;
        this.#tell();
      });
    this.fetching = asked;
    this.#tell();
    return asked.promise;
  }

  async #fetchRows() {
    const url = new URL(this.urls.rows, location.href);
    url.searchParams.set("after", this.seq);
    const answer = await this.#getJson(url);
    if (answer.resync || answer.seq < this.seq) return this.#fetchTree();
    if (this.isPaused) return undefined;
    return this.#take(answer.rows, answer.seq, answer.columns);
  }

  async #fetchTree() {
    const skeleton = await this.#getJson(new URL(this.urls.tree, location.href));
    this.seq = skeleton.seq;
    this.head.seq = Math.max(this.head.seq, skeleton.seq);
    this.behindSince = null;
    this.on.tree(skeleton);
  }

  async #getJson(url) {
    const response = await fetch(url, {
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      signal: AbortSignal.timeout(FETCH_MS),
    });
    if (REFUSED[response.status]) this.#giveUp(REFUSED[response.status]);
    if (!response.ok) throw new Error(`expected rows, got ${response.status}`);
    return response.json();
  }

  #fetchFailed(error) {
    // A server that is away is an expected state: the page says "stale" and asks again.
    console.info("live rows:", error.message);
    if (this.seq === null) setTimeout(() => this.catchUp({ whole: true }), POLL_MS);
  }

  #connect() {
    if (this.socket || this.fault || this.isHidden) return;
    const url = new URL(this.urls.socket, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("after", this.seq ?? 0);
    const socket = new WebSocket(url);
    this.socket = socket;
    this.connectedAt = Date.now();
    socket.addEventListener("message", (event) => this.socket === socket && this.#hear(event.data));
    socket.addEventListener("close", (event) => this.socket === socket && this.#closed(event.code));
  }

  #hear(data) {
    this.heardAt = Date.now();
    this.failures = 0;
    const frame = JSON.parse(data);
    if (frame.type === "rows") this.#hearRows(frame);
    else if (frame.type === "progress") this.#hearProgress(frame);
    else if (frame.type === "resync") this.catchUp({ whole: true });
    this.#tell();
  }

  #hearRows(frame) {
    this.head.seq = Math.max(this.head.seq, frame.to);
    if (this.isPaused || this.seq === null) return;
    if (frame.from > this.seq) this.catchUp();
    else this.#take(frame.rows, frame.to);
  }

  #hearProgress(frame) {
    this.clockOffset = frame.now_ms - Date.now();
    this.head = { seq: Math.max(frame.seq, this.seq ?? 0), terminal: frame.terminal };
    if (this.seq !== null && this.seq < frame.seq) this.behindSince ??= Date.now();
    this.on.progress(frame);
  }

  #take(rows, seq, columns) {
    if (seq <= this.seq) return;
    this.seq = seq;
    this.head.seq = Math.max(this.head.seq, seq);
    if (this.seq >= this.head.seq) this.behindSince = null;
    this.on.rows(rows, columns);
  }

  #closed(code) {
    this.socket = null;
    if (CLOSED_FOR_GOOD[code]) this.#giveUp(CLOSED_FOR_GOOD[code]);
    else this.#retryLater();
    this.#tell();
  }

  #retryLater() {
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.#connect(), backoff(this.failures));
    this.failures += 1;
  }

  #reconnectNow() {
    this.#drop();
    this.failures = 0;
    this.lastPoll = Date.now();
    if (this.seq !== null) this.catchUp();
    this.#connect();
  }

  // The browser says that the network is gone: what was open proves nothing any more. A server on
  // this machine is there all the same, so it is asked again instead of being given up.
  #doubt() {
    this.#drop();
    if (!this.fault && !this.isHidden) this.#retryLater();
    this.#tell();
  }

  #drop() {
    const socket = this.socket;
    this.socket = null;
    clearTimeout(this.retry);
    socket?.close();
  }

  #giveUp(fault) {
    this.fault = fault;
    this.#drop();
    clearInterval(this.timer);
  }

  #isHeard() {
    return this.socket?.readyState === WebSocket.OPEN && this.heardAt !== null &&
      this.heardAt >= this.connectedAt && Date.now() - this.heardAt < QUIET_MS;
  }

  #tick() {
    const now = Date.now();
    const isOpen = this.socket?.readyState === WebSocket.OPEN;
    if (this.socket && now - Math.max(this.connectedAt, this.heardAt ?? 0) >= QUIET_MS) {
      this.#drop();
      this.#retryLater();
    }
    const isBehind = this.behindSince !== null && now - this.behindSince > BEHIND_MS;
    const isAlone = !isOpen && !this.isHidden && now - this.lastPoll >= POLL_MS;
    if (this.seq !== null && !this.isPaused && (isBehind || isAlone)) {
      this.lastPoll = now;
      this.behindSince = isBehind ? now : this.behindSince;
      this.catchUp({ quietly: isAlone });
    }
    this.#tell();
  }

  // A page nobody looks at holds no socket; it catches up when it is looked at again.
  #visibility() {
    clearTimeout(this.hiding);
    if (document.hidden) {
      this.hiding = setTimeout(() => {
        this.isHidden = true;
        this.#drop();
      }, HIDDEN_MS);
    } else if (this.isHidden) {
      this.isHidden = false;
      this.#reconnectNow();
    }
  }

  #tell() {
    this.on.state({ state: this.state, seq: this.seq, heardAt: this.heardAt, fault: this.fault });
  }
}
