// The server's words for statuses, groups and marks. What it does not name is shown by its own
// code, neutrally: a script decides no status.

import { readJson } from "./page.js";
import { visible } from "./worker_text.js";

const spoken = (code) => visible(String(code).replaceAll("_", " "));

export class Vocabulary {
  constructor({ statuses, groups, marks }) {
    this.statuses = new Map(Object.entries(statuses));
    this.order = [...this.statuses.keys()];
    this.groups = groups;
    this.marks = new Map(Object.entries(marks));
  }

  static fromPage() {
    return new Vocabulary(readJson("vocabulary"));
  }

  status(code) {
    const known = this.statuses.get(code);
    if (known) return known;
    const neutral = {
      code, word: spoken(code), icon: "unknown", group: "", means: "unknown status",
      terminal: false, failed: false, succeeded: false, severity: null,
    };
    this.statuses.set(code, neutral);
    return neutral;
  }

  mark(code) {
    return this.marks.get(code) ?? { code, word: spoken(code), short: "", tone: "", means: "" };
  }

  isFailed(code) {
    return this.status(code).failed;
  }
}
