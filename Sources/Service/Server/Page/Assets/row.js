// A row of the list: created once, then updated for the download that it shows.

import { remediesOf } from "./commands.js";
import { columns } from "./columns.js";
import { make, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";
import { icon } from "./icons.js";
import { hostOf, isCollection, isInLine, isShort, meanSpeedOf, nameOf, partOf } from "./queue.js";
import { words } from "./words.js";

/** @typedef {import("./queue.js").Row} Row */

export class RowElement {
  /** @type {Row | null} */
  row = null;
  #toggleIcon = "";
  #remedy = "";
  /** The text columns. @type {Record<string, HTMLElement>} */
  cells = {};

  constructor() {
    this.name = make("span", { class: "row-name" });
    this.note = make("span", { class: "row-note" });
    this.brief = make("span", { class: "row-brief" });
    this.toggle = make("button", { type: "button", class: "toggle", tabindex: -1 });
    this.tick = make("span", { class: "tick", "aria-hidden": "true" }, icon("done"));
    this.fill = make("i", { class: "fill" });
    this.bar = make("div", { class: "bar", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100 }, this.fill);
    this.percent = make("span", { class: "percent" });
    this.remedy = make("button", { type: "button", class: "remedy", tabindex: -1, hidden: true });
    this.reason = make("span", { class: "row-reason" }, this.note, this.remedy);
    this.info = make("button", { type: "button", class: "info", tabindex: -1 }, icon("details"));
    const cells = columns.map(({ name }) => {
      if (name === "progress") return make("div", { role: "gridcell", class: "cell cell-progress" }, this.bar, this.percent);
      return (this.cells[name] = make("div", { role: "gridcell", class: `cell cell-${name}` }));
    });
    this.element = make(
      "div",
      { role: "row", class: "row" },
      make("div", { role: "gridcell", class: "cell cell-toggle" }, this.toggle, this.tick),
      make("div", { role: "gridcell", class: "cell cell-name" }, this.name, this.reason, this.brief),
      cells,
      make("div", { role: "gridcell", class: "cell cell-info" }, this.info),
    );
  }

  /**
   * @param {Row} row
   * @param {{index: number, top: number, isChosen: boolean, isCurrent: boolean, isOpened: boolean, isMember: boolean}} place
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
    element.draggable = isInLine(row) && !isCollection(row);
    element.classList.toggle("is-member", place.isMember);
    setAttribute(element, "aria-expanded", isCollection(row) ? String(place.isOpened) : null);
    if (this.row === row) return;
    this.row = row;
    this.#fill(row);
  }

  /** Refreshes all texts after a change of language. */
  forget() {
    this.row = null;
    this.#toggleIcon = "";
    this.#remedy = "";
  }

  /** @param {Row} row */
  #fill(row) {
    const part = partOf(row);
    const name = nameOf(row);
    this.element.dataset.part = part;
    this.element.dataset.state = stateOf(row);
    setText(this.name, name);
    setAttribute(this.name, "title", name);
    const failure = row.error ?? (row.retryIn === undefined ? undefined : row.retry);
    const note = isScheduled(row) ? [words.startsAt(format.near(row.startAt ?? 0)), hostOf(row), row.group].filter(Boolean).join(" · ")
      : row.files ? [filesText(row.files), row.error ? words.reason(row.error) : hostOf(row)].join(" · ")
      : row.error ? words.reason(row.error)
      : row.waitsForHost && row.retryIn !== undefined ? words.hostWaits(row.waitsForHost, format.duration(Math.ceil(row.retryIn)))
      : limitOf(row) ? limitOf(row)
      : failure ? words.cause(failure) : [segmentsText(row), hostOf(row), row.group].filter(Boolean).join(" · ");
    setText(this.note, shortened(note));
    setAttribute(this.note, "title", row.error ? note : failure ? words.cause(failure) : row.url);
    // Shown before the note where there is no column for it.
    setAttribute(this.note, "data-state", plainStates.has(stateOf(row)) ? null : stateText(row, stateOf(row) === "crowded"));
    setText(this.brief, row.files ? [filesText(row.files), sizeText(row)].filter(Boolean).join(" · ") : row.error ? shortened(words.cause(row.error)) : failure || isRetrying(row) || isScheduled(row) ? shortened(note) : briefOf(row));
    this.#showToggle(row, name);
    this.#showProgress(row, part);
    this.#showRemedy(row, part);
    setAttribute(this.info, "aria-label", (isCollection(row) ? words.filesOf : words.detailsOf)(name));
    setAttribute(this.info, "title", isCollection(row) ? words.filesOf(name) : words.toolbar.details);
    const isMoving = part === "running" && (row.speed ?? 0) > 0;
    const { state, size, speed, left, mean: meanCell, ended, connections, added } = this.cells;
    setText(state, stateText(row, true));
    setAttribute(state, "title", stateText(row));
    setText(size, sizeText(row));
    setText(speed, isMoving ? format.speed(row.speed ?? 0) : "");
    // Shown before the note where there is no column for it, as the state is.
    setAttribute(this.note, "data-speed", isMoving ? format.speed(row.speed ?? 0) : null);
    setAttribute(speed, "title", isMoving ? words.smoothed(format.speed(row.smoothedSpeed ?? 0)) : null);
    setText(left, row.timeLeft !== undefined && isMoving ? format.duration(row.timeLeft) : "");
    setText(meanCell, meanText(row));
    setText(ended, row.endedAt ? format.when(row.endedAt) : "");
    setAttribute(ended, "title", row.endedAt ? format.moment(row.endedAt) : null);
    setText(connections, row.connections ? format.count(row.connections) : "");
    setText(added, row.addedAt ? format.when(row.addedAt) : "");
    setAttribute(added, "title", row.addedAt ? format.moment(row.addedAt) : null);
  }

  /** @param {Row} row @param {string} name */
  #showToggle(row, name) {
    // One icon for one command: a failed one is retried, a paused one resumed, whether or not it has begun.
    const toggle = { failed: "retry", paused: "continue" }[/** @type {string} */ (partOf(row))] ?? row.toggle;
    setAttribute(this.toggle, "aria-label", words.toggles[toggle](name));
    this.toggle.disabled = toggle === "done";
    if (this.#toggleIcon === toggle) return;
    this.#toggleIcon = toggle;
    this.toggle.dataset.toggle = toggle;
    this.toggle.replaceChildren(icon(/** @type {any} */ (toggle)));
  }

  /** A failed download has no progress to show, but something to do. @param {Row} row @param {string} part */
  #showRemedy(row, part) {
    const [remedy] = part === "failed" ? isCollection(row) ? [/** @type {const} */ ("retry")] : remediesOf(row) : [/** @type {const} */ ("")];
    this.bar.hidden = this.percent.hidden = part === "failed";
    this.remedy.hidden = remedy === "";
    if (remedy === this.#remedy) return;
    this.#remedy = remedy;
    this.remedy.dataset.action = remedy;
    setText(this.remedy, remedy === "" ? "" : words.toolbar[remedy]);
  }

  /** @param {Row} row @param {string} part */
  #showProgress(row, part) {
    const percent = percentOf(row);
    this.bar.classList.toggle("is-unknown", percent === null && part === "running" && row.retryIn === undefined && stateOf(row) !== "crowded");
    // Only a download that receives or has bytes has a bar.
    const isEmpty = !row.written && (isInLine(row) || ["retrying", "crowded"].includes(stateOf(row)));
    this.bar.classList.toggle("is-empty", isEmpty);
    this.fill.style.width = `${percent ?? 0}%`;
    setText(this.percent, percent === null || isEmpty ? "" : format.percent(percent));
    setAttribute(this.bar, "aria-valuenow", percent === null ? null : String(Math.floor(percent)));
    setAttribute(this.bar, "aria-label", words.progress);
  }
}

/** 0 to 100; null while the size is unknown. @param {Row} row */
export function percentOf(row) {
  const isFinished = partOf(row) === "finished";
  return row.total === undefined && row.percent === undefined && !isFinished ? null : row.percent ?? (isFinished ? 100 : 0);
}

/** @param {NonNullable<Row["files"]>} files */
const filesText = ({ done, listed, isListed, failed }) =>
  [words.filesDone(format.count(done), format.count(listed), isListed), failed > 0 && words.filesFailed(format.count(failed))].filter(Boolean).join(" · ");

/** @param {Row} row */
const segmentsText = ({ segments, state }) =>
  segments && state !== "finished" ? words.segmentsDone(format.count(segments.done), format.count(segments.total)) : "";

/** A reason with shortened digests. @param {string} text */
const shortened = (text) => text.replace(/\b([\da-f]{8})[\da-f]{24,}\b/g, "$1…");

/** States that the rest of a row shows too. */
const plainStates = new Set(["transferring", "finished", "failed", "scheduled"]);

/** It waits for its next attempt. @param {Row} row */
const isRetrying = (row) => row.retryIn !== undefined && partOf(row) === "running" && !row.isHeld;

/** It is paused until a time. @param {Row} row */
const isScheduled = (row) => row.state === "paused" && row.startAt !== undefined;

/** What the row is shown as: a wait for the next attempt is not a connection. @param {Row} row */
function stateOf(row) {
  if (row.isHeld) return "held";
  // Its host allows no more connections at present, or requested a wait.
  if (row.waitsForHost) return "crowded";
  return isRetrying(row) ? "retrying" : isScheduled(row) ? "scheduled" : row.state;
}

/** Why it waits for its host, if the host has shown a limit. @param {Row} row */
function limitOf(row) {
  if (!row.waitsForHost || !row.hostLimit || row.retryIn !== undefined) return "";
  return words.hostAllowed(row.hostLimit.host, row.hostLimit.connections, format.moment(row.hostLimit.since));
}

/** @param {Row} row @param {boolean} isShort without what a row has little room for */
export function stateText(row, isShort = false) {
  const state = stateOf(row);
  if (state === "scheduled" && !isShort) return words.startsAt(format.near(row.startAt ?? 0));
  if (state === "crowded" && !isShort) return limitOf(row) || words.waitingFor(row.waitsForHost ?? "");
  if (state === "retrying") {
    const text = words.retrying(format.duration(Math.ceil(row.retryIn ?? 0)));
    return isShort || !row.retryAttempt ? text : words.retryOf(text, row.retryReason ?? "", row.retryAttempt, row.retryLimit ?? 0);
  }
  return words.states[state] ?? row.state;
}

/** @param {Row} row */
export function meanText(row) {
  const mean = meanSpeedOf(row);
  return !mean ? "" : (isShort(row) ? "> " : "") + format.speed(mean);
}

/** @param {Row} row */
export function sizeText(row) {
  if (row.total === undefined) return row.written ? format.size(row.written) : "";
  if (partOf(row) === "finished" || !row.written) return format.size(row.total);
  return words.of(format.size(row.written), format.size(row.total));
}

/** One line for small screens. @param {Row} row */
function briefOf(row) {
  const part = partOf(row);
  if (part === "running" && row.timeLeft !== undefined && (row.speed ?? 0) > 0) {
    return [sizeText(row), words.leftIn(format.duration(row.timeLeft))].filter(Boolean).join(" · ");
  }
  if (part === "finished") return [sizeText(row), row.endedAt && format.when(row.endedAt)].filter(Boolean).join(" · ");
  return [sizeText(row), hostOf(row)].filter(Boolean).join(" · ");
}
