// The totals in the header.

import { drawSpeeds } from "./chart.js";
import { at, make, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";
import { words } from "./words.js";

/** @param {import("./queue.js").Queue} queue @param {() => void} openLimits */
export function showTotals(queue, openLimits) {
  const [gauge, chart, speed, note, room] = ["gauge", "gauge-chart", "gauge-speed", "gauge-note", "room"].map(at);
  gauge.addEventListener("click", openLimits);
  const draw = () => {
    const { limit, free } = queue.status;
    const now = format.speed(queue.speed);
    setText(speed, now);
    const { written, total, unknown, seconds } = queue.rest();
    /** The least important is left out on small screens. @type {[string, string | false][]} */
    const parts = [
      ["running", queue.isReady && words.running(queue.counts().running)],
      ["size", total > 0 && (unknown > 0 ? words.ofAtLeast : words.of)(format.size(written), format.size(total))],
      ["left", seconds !== undefined && words.leftIn(format.duration(seconds))],
      ["limit", Boolean(limit) && words.limited(format.speed(limit ?? 0))],
    ];
    const shown = parts.filter(([, text]) => text);
    const text = shown.map(([, one]) => one).join(" · ");
    if (note.dataset.text !== text) {
      note.dataset.text = text;
      note.replaceChildren(...shown.map(([name, one]) => make("span", { class: `note-${name}` }, one)));
      setAttribute(gauge, "title", text);
    }
    setAttribute(gauge, "aria-label", words.speedOfAll(now));
    setText(room, free ? words.free(format.size(free)) : "");
    document.title = queue.speed > 0 ? `${now} · Pawl` : "Pawl";
  };
  queue.addEventListener("change", draw);
  const paint = () => drawSpeeds(chart, queue.speeds, { isQuiet: true });
  queue.addEventListener("tick", paint);
  return () => {
    draw();
    paint();
  };
}
