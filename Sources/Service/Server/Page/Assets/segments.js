// The segment map, the connections, and the speed chart.

import { drawSegments, drawSpeeds } from "./chart.js";
import { make, setText } from "./dom.js";
import * as format from "./format.js";
import { partOf } from "./queue.js";
import { words } from "./words.js";

/** More lines would push everything else out of sight; the map shows where all of them are. */
const mostLanes = 8;

export class Segments {
  #map = make("canvas", { class: "segment-map", role: "img" });
  #mapText = make("p", { class: "hint" });
  #lanes = make("ul", { class: "lanes" });
  #chart = make("canvas", { class: "chart", role: "img" });
  #chartText = make("p", { class: "hint" });
  #running = make(
    "div",
    {},
    make("h3", {}, words.detail.lanes),
    this.#lanes,
    make("h3", {}, words.detail.chart),
    this.#chart,
    this.#chartText,
  );
  /** Hidden until something is known. */
  element = make("section", { hidden: true }, make("h3", {}, words.detail.segments), this.#map, this.#mapText, this.#running);

  /** @param {import("./detail.js").Details & {history: number[]}} details */
  show(details) {
    const total = details.total ?? 0;
    const isRunning = partOf(details) === "running";
    const isBegun = isRunning && (details.lanes.length > 0 || details.history.some((speed) => speed > 0));
    // Nothing is known of what was not begun.
    this.element.hidden = partOf(details) === "finished" || !(total || details.written || isBegun);
    if (this.element.hidden) return;
    const written = format.size(details.written ?? 0);
    const text = total
      ? words.segmentText(written, format.size(total), details.ranges.length)
      : words.segmentUnknown(written);
    setText(this.#mapText, text);
    this.#map.setAttribute("aria-label", text);
    this.#map.hidden = total === 0;
    drawSegments(this.#map, { total, ranges: details.ranges, lanes: details.lanes });
    this.#running.hidden = !isBegun;
    if (isBegun) this.#showRunning(details);
  }

  /** @param {import("./detail.js").Details & {history: number[]}} details */
  #showRunning(details) {
    this.#lanes.replaceChildren(
      ...details.lanes.slice(0, mostLanes).map((lane) =>
        make(
          "li",
          {},
          make("span", { class: "lane-host" }, host(lane.url)),
          make("span", { class: "lane-at" }, words.laneAt(format.size(lane.offset))),
          make("span", { class: "lane-speed" }, lane.isReceiving ? format.speed(lane.speed) : words.laneWaits),
        ),
      ),
    );
    const others = details.lanes.length - mostLanes;
    if (others > 0) this.#lanes.append(make("li", { class: "hint" }, words.moreLanes(others)));
    if (details.lanes.length === 0) this.#lanes.append(make("li", { class: "hint" }, words.noLanes));
    const most = Math.max(0, ...details.history);
    const text = words.chartText(format.speed(details.history.at(-1) ?? 0), format.speed(most));
    setText(this.#chartText, text);
    this.#chart.setAttribute("aria-label", text);
    drawSpeeds(this.#chart, details.history);
  }
}

/** @param {string} url */
const host = (url) => /^[a-z]+:\/\/(?:[^/@]*@)?([^/?#]+)/i.exec(url)?.[1] ?? url;
