// A row of the list: created once, then updated for the download that it shows.

import { make, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";
import { icon } from "./icons.js";
import { hostOf, isInLine, nameOf, partOf } from "./queue.js";
import { words } from "./words.js";

/** @typedef {import("./queue.js").Row} Row */

export class RowElement {
  /** @type {Row | null} */
  row = null;
  #toggleIcon = "";

  constructor() {
    this.name = make("span", { class: "row-name" });
    this.note = make("span", { class: "row-note" });
    this.toggle = make("button", { type: "button", class: "toggle", tabindex: -1 });
    this.fill = make("i", { class: "fill" });
    this.bar = make("div", { class: "bar", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100 }, this.fill);
    this.percent = make("span", { class: "percent" });
    this.state = cell("state");
    this.size = cell("size");
    this.speed = cell("speed");
    this.left = cell("left");
    this.connections = cell("connections");
    this.added = cell("added");
    this.element = make(
      "div",
      { role: "row", class: "row" },
      make("div", { role: "gridcell", class: "cell cell-toggle" }, this.toggle),
      make("div", { role: "gridcell", class: "cell cell-name" }, this.name, this.note),
      make("div", { role: "gridcell", class: "cell cell-progress" }, this.bar, this.percent),
      this.state, this.size, this.speed, this.left, this.connections, this.added,
    );
  }

  /**
   * @param {Row} row
   * @param {{index: number, top: number, isChosen: boolean, isCurrent: boolean, isMovable: boolean}} place
   */
  show(row, place) {
    const { element } = this;
    if (this.row?.id !== row.id) {
      element.id = `row-${row.id}`;
      element.dataset.id = row.id;
    }
    setAttribute(element, "aria-rowindex", String(place.index + 2));
    setAttribute(element, "aria-selected", String(place.isChosen));
    element.style.transform = `translateY(${place.top}px)`;
    element.classList.toggle("is-current", place.isCurrent);
    element.draggable = place.isMovable && isInLine(row);
    if (this.row === row) return;
    this.row = row;
    this.#fill(row);
  }

  /** Refreshes all texts after a change of language. */
  forget() {
    this.row = null;
    this.#toggleIcon = "";
  }

  /** @param {Row} row */
  #fill(row) {
    const part = partOf(row);
    const name = nameOf(row);
    this.element.dataset.part = part;
    this.element.dataset.state = row.isHeld ? "held" : row.state;
    setText(this.name, name);
    setAttribute(this.name, "title", name);
    setText(this.note, row.error ? words.reason(row.error) : [hostOf(row), row.group].filter(Boolean).join(" · "));
    setAttribute(this.note, "title", row.error ? row.error.message : row.url);
    this.#showToggle(row, name);
    this.#showProgress(row, part);
    setText(this.state, stateText(row));
    setText(this.size, sizeText(row));
    const isMoving = part === "running" && (row.speed ?? 0) > 0;
    setText(this.speed, isMoving ? format.speed(row.speed ?? 0) : "");
    setAttribute(
      this.speed,
      "title",
      isMoving ? words.smoothed(format.speed(row.smoothedSpeed ?? 0)) : null,
    );
    setText(this.left, row.timeLeft !== undefined && isMoving ? format.duration(row.timeLeft) : "");
    setText(this.connections, row.connections ? format.count(row.connections) : "");
    setText(this.added, row.addedAt ? format.when(row.addedAt) : "");
    setAttribute(this.added, "title", row.addedAt ? format.moment(row.addedAt) : null);
  }

  /** @param {Row} row @param {string} name */
  #showToggle(row, name) {
    setAttribute(this.toggle, "aria-label", words.toggles[row.toggle](name));
    this.toggle.disabled = row.toggle === "done";
    if (this.#toggleIcon === row.toggle) return;
    this.#toggleIcon = row.toggle;
    this.toggle.dataset.toggle = row.toggle;
    this.toggle.replaceChildren(icon(/** @type {any} */ (row.toggle)));
  }

  /** @param {Row} row @param {string} part */
  #showProgress(row, part) {
    const percent = row.total === undefined && part !== "finished" ? null : row.percent ?? (part === "finished" ? 100 : 0);
    this.bar.classList.toggle("is-unknown", percent === null && part === "running");
    this.fill.style.width = `${percent ?? 0}%`;
    setText(this.percent, percent === null ? "" : format.percent(percent));
    setAttribute(this.bar, "aria-valuenow", percent === null ? null : String(Math.floor(percent)));
    setAttribute(this.bar, "aria-label", words.progress);
  }
}

/** @param {string} name */
function cell(name) {
  return make("div", { role: "gridcell", class: `cell cell-${name}` });
}

/** @param {Row} row */
export const stateText = (row) => words.states[row.isHeld ? "held" : row.state] ?? row.state;

/** @param {Row} row */
export function sizeText(row) {
  if (row.total === undefined) return row.written ? format.size(row.written) : "";
  if (partOf(row) === "finished" || !row.written) return format.size(row.total);
  return words.of(format.size(row.written), format.size(row.total));
}
