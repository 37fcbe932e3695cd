// Time as a width: the run's span, its ruler, and where an attempt lies on it.

import { tickLabel, tickStep } from "../format.js";

const LEAST_SPAN_MS = 4000;
const HEADROOM = 1.03;
const TICK_PX = 46;

/** The span a lane shows: from the first spawn to now, or to the last end once nothing runs. */
export function makeScale(span, now, isLive) {
  const from = span?.from ?? now;
  const to = isLive ? Math.max(now, span?.to ?? now) : (span?.to ?? now);
  const width = Math.max(LEAST_SPAN_MS, (to - from) * HEADROOM);
  return { from, now: isLive ? to : null, end: to, width };
}

/** Percentages of the lane, clamped into it; an open end reaches to now. */
export function place(scale, startMs, endMs) {
  const left = share(scale, startMs);
  const right = share(scale, endMs ?? scale.now ?? scale.end);
  return { left, width: Math.max(0, right - left) };
}

function share(scale, ms) {
  return Math.min(100, Math.max(0, ((ms - scale.from) / scale.width) * 100));
}

/** Ticks for a lane of `px` pixels: their labels and places, and the distance between two. */
export function ruler(scale, px) {
  const step = tickStep(scale.width, Math.max(1, Math.floor(px / TICK_PX)));
  const ticks = [];
  for (let at = 0; at <= scale.width; at += step) {
    const left = (at / scale.width) * 100;
    if (px * (1 - left / 100) > 22) ticks.push({ left, label: tickLabel(at) });
  }
  return { ticks, distance: (step / scale.width) * 100 };
}
