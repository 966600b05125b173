// The totals in the header.

import { drawSpeeds } from "./chart.js";
import { at, setAttribute, setText } from "./dom.js";
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
    setText(
      note,
      [words.running(queue.counts().running), limit ? words.limited(format.speed(limit)) : words.unlimited].join(" · "),
    );
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
