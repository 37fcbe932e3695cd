// The word in the top bar that says how fresh the page is, for eyes, ears and tests.

import { age } from "../format.js";
import { byId } from "../page.js";

const MEANS = {
  live: "What happens is shown as it happens. Press p to pause.",
  "catching up": "Asking for what this page has not seen yet.",
  stale: "The stream is lost. Trying again; until then this may be old.",
  paused: "Held by you. Press p to go on.",
  final: "The run has ended; this is its last state.",
};
const FAULTS = {
  "signed out": "You are signed out. Sign in again to go on; nothing on this page is lost.",
  forbidden: "You may no longer see this run.",
  gone: "This run is no longer there.",
};

export class Indicator {
  constructor() {
    this.element = byId("live");
    this.word = this.element.querySelector(".word");
    this.seq = this.element.querySelector(".seq");
    this.spoken = byId("live-spoken");
    this.fault = byId("live-fault");
  }

  show({ state, seq, heardAt, fault }) {
    const element = this.element;
    element.hidden = false;
    if (element.dataset.liveState !== state) {
      element.dataset.liveState = state;
      element.title = MEANS[state];
      this.spoken.textContent = state;
    }
    if (element.dataset.seq !== String(seq ?? "")) {
      element.dataset.seq = seq ?? "";
      this.seq.textContent = seq === null ? "" : `seq ${seq}`;
    }
    const isLost = state === "stale" && heardAt !== null;
    const word = isLost ? `stale, heard ${age(Date.now() - heardAt)}` : state;
    if (this.word.textContent !== word) this.word.textContent = word;
    this.fault.hidden = !fault;
    if (fault) this.fault.querySelector(".what").textContent = FAULTS[fault];
  }
}
