// How numbers and times are written. Unknown is "–", never 0.

export const UNKNOWN = "–";

const round = (value, digits) => value.toFixed(digits).replace(/\.0+$/, "");

/** 812 → "812", 18240 → "18.2 k", null → "–". */
export function tokens(count) {
  if (count === null || count === undefined) return UNKNOWN;
  if (count < 1000) return String(count);
  if (count < 99_950) return `${(count / 1000).toFixed(1)} k`;
  if (count < 999_500) return `${Math.round(count / 1000)} k`;
  return `${(count / 1e6).toFixed(1)} M`;
}

/** 6629 → "6,629". */
export const count = (number) => number.toLocaleString("en");

/** Milliseconds as "3 ms", "0.4 s", "41 s", "3 m 08 s", "2 h 05 m", "3 d 4 h". */
export function duration(ms) {
  if (ms === null || ms === undefined) return UNKNOWN;
  if (ms < 1) return "< 1 ms";
  if (ms < 100) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${round(seconds, 1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const two = (value) => String(value).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} m`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}

/** How long ago, coarsely: "just now", "14 s", "3 m", "2 h", "5 d". */
export function age(ms) {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

const TICK_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
  172_800, 604_800, 1_209_600, 2_592_000,
].map((seconds) => seconds * 1000);

/** The step (ms) of a ruler over `span` ms with at most `most` ticks after 0. */
export function tickStep(span, most) {
  const last = TICK_STEPS[TICK_STEPS.length - 1];
  return TICK_STEPS.find((step) => span / step <= most) ?? last * Math.ceil(span / last / most);
}

/** A tick's label: "0", "30 s", "2 m", "1 m 30", "6 h", "2 d". */
export function tickLabel(ms) {
  const seconds = Math.round(ms / 1000);
  if (seconds === 0) return "0";
  if (seconds < 60) return `${seconds} s`;
  const parts = [[86_400, "d"], [3600, "h"], [60, "m"]];
  const at = parts.findIndex(([size]) => seconds >= size);
  const [size, unit] = parts[at];
  const rest = seconds % size;
  const whole = `${Math.floor(seconds / size)} ${unit}`;
  if (rest === 0) return whole;
  return `${whole} ${at === 2 ? rest : Math.floor(rest / parts[at + 1][0])}`;
}
