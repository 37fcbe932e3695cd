// The spec somebody is writing, kept in this tab until its run has started.

const KEY = "swarm.new-run";

export function keepDraft(text) {
  try {
    if (text) sessionStorage.setItem(KEY, text);
    else sessionStorage.removeItem(KEY);
  } catch {
    // Storage is off: the text lives as long as the page.
  }
}

export function keptDraft() {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
