// Speed limits and pauses by the hour of the week: as the service's text, as a grid, and the field that shows both.

import { setProblem } from "./asking.js";
import { make, setAttribute } from "./dom.js";
import * as format from "./format.js";
import { words } from "./words.js";

/** A limit in bytes per second, null for none, or that no download runs. @typedef {number | null | "pause"} Rate */

const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const hours = 24;

/**
 * The limits of the 168 hours from Monday; null if the text is not understood. `isExact` is false if it has times within
 * an hour.
 * @param {string | null} text
 * @returns {{cells: Rate[], isExact: boolean} | null}
 */
export function cellsOf(text) {
  /** @type {(Rate | undefined)[]} */
  const cells = new Array(days.length * hours).fill(undefined);
  /** @type {Rate} */
  let otherwise = null;
  let isExact = true;
  for (const part of (text ?? "").split(",").filter((one) => one.trim())) {
    const found = /^\s*(?:([a-z]+)(?:-([a-z]+))?\s+)?(\d+):(\d+)-(\d+):(\d+)\s+(\S+)\s*$/i.exec(part);
    const rest = /^\s*else\s+(\S+)\s*$/i.exec(part);
    const rate = rateOf((found?.[7] ?? rest?.[1] ?? "x").toLowerCase());
    if (rate === undefined) return null;
    if (rest) otherwise = rate;
    if (!found) continue;
    const first = found[1] ? days.indexOf(found[1].slice(0, 3).toLowerCase()) : 0;
    const last = found[2] ? days.indexOf(found[2].slice(0, 3).toLowerCase()) : found[1] ? first : 6;
    if (first < 0 || last < 0) return null;
    if (Number(found[4]) > 0 || Number(found[6]) > 0) isExact = false;
    const from = Number(found[3]);
    const length = ((Number(found[5]) - from + hours - 1) % hours) + 1;
    for (let day = first; ; day = (day + 1) % days.length) {
      for (let hour = from; hour < from + length; hour += 1) {
        const cell = (day * hours + hour) % cells.length;
        if (cells[cell] === undefined) cells[cell] = rate;
      }
      if (day === last) break;
    }
  }
  return { cells: cells.map((rate) => (rate === undefined ? otherwise : rate)), isExact };
}

/** The text of a grid; null if nothing is limited. @param {Rate[]} cells */
export function textOf(cells) {
  /** The intervals of each day, as text without the day. @type {string[][]} */
  const ofDay = days.map((_, day) => {
    const intervals = [];
    for (let hour = 0; hour < hours; ) {
      const rate = cells[day * hours + hour];
      let end = hour + 1;
      while (end < hours && cells[day * hours + end] === rate) end += 1;
      if (rate !== null) intervals.push(`${clock(hour)}-${clock(end)} ${rate === "pause" ? rate : format.rateText(rate)}`);
      hour = end;
    }
    return intervals;
  });
  const entries = [];
  for (let day = 0; day < days.length; ) {
    let end = day + 1;
    while (end < days.length && ofDay[end].join() === ofDay[day].join()) end += 1;
    const prefix = end - day === 7 ? "" : end - day === 1 ? `${names[day]} ` : `${names[day]}-${names[end - 1]} `;
    entries.push(...ofDay[day].map((interval) => prefix + interval));
    day = end;
  }
  return entries.length === 0 ? null : [...entries, "else none"].join(", ");
}

/** @param {string} word @returns {Rate | undefined} */
const rateOf = (word) => (word === "pause" ? word : format.parseRate(word));

/** @param {number} hour */
const clock = (hour) => `${String(hour).padStart(2, "0")}:00`;

/** A grid of the week that is painted with a limit, and its text. */
export class ScheduleField {
  /** @type {Rate[]} */
  #cells = new Array(days.length * hours).fill(null);
  #brush = make("input", { id: "schedule-rate", value: "1M", autocomplete: "off", size: 6, "aria-label": words.scheduleRate, "aria-describedby": "schedule-rate-problem" });
  #pauses = make("input", { type: "radio", name: "brush", value: "pause" });
  #limits = make("input", { type: "radio", name: "brush", value: "limit", checked: true });
  #text = make("input", { id: "bounds-times", autocomplete: "off", spellcheck: "false", "aria-describedby": "bounds-times-hint bounds-times-problem" });
  #note = make("p", { class: "hint", role: "status" });
  /** @type {HTMLElement[]} */
  #buttons = [];
  /** While a pointer paints. @type {Rate | undefined} */
  #painting = undefined;
  /** Whether the last press has painted already. */
  #hasPainted = false;
  element;
  input = this.#text;

  /** @param {string | null} text */
  constructor(text) {
    const grid = make("div", { class: "week", role: "grid", "aria-label": words.schedule });
    grid.append(
      make("div", { class: "week-row", role: "row" }, make("span", { role: "columnheader", class: "week-day" }, make("span", { class: "unseen" }, words.dayAndHour)),
        Array.from({ length: hours }, (_, hour) => make("span", { role: "columnheader", class: "week-hour" }, make("span", { class: hour % 3 === 0 ? null : "unseen" }, String(hour))))),
      ...days.map((_, day) => make("div", { class: "week-row", role: "row" }, make("span", { role: "rowheader", class: "week-day" }, words.days[day]), this.#cellsOfDay(day))),
    );
    grid.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.#begin(event));
    grid.addEventListener("pointerover", (/** @type {PointerEvent} */ event) => this.#paint(event));
    grid.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#walk(event));
    addEventListener("pointerup", () => (this.#painting = undefined));
    this.#brush.addEventListener("input", () => (this.#limits.checked = true));
    this.#text.value = text ?? "";
    this.#text.addEventListener("input", () => this.#read());
    this.element = make(
      "div",
      { class: "schedule" },
      make("div", { class: "schedule-brush", role: "radiogroup", "aria-label": words.schedule },
        make("label", {}, this.#limits, words.scheduleRate), this.#brush, make("label", {}, this.#pauses, words.schedulePause), make("span", { class: "hint" }, words.scheduleHint)),
      make("p", { class: "problem", id: "schedule-rate-problem", role: "alert" }),
      make("div", { class: "week-box" }, grid),
      this.#note,
      make("details", { class: "more" }, make("summary", {}, words.asText),
        make("div", { class: "field" }, make("label", { for: "bounds-times" }, words.timetable), this.#text,
          make("p", { class: "problem", id: "bounds-times-problem", role: "alert" }), make("span", { class: "hint", id: "bounds-times-hint" }, words.timetableHint))),
    );
    this.#read();
  }

  /** The text for the service; null for none. */
  get value() {
    return this.#text.value.trim() || null;
  }

  /** @param {number} day */
  #cellsOfDay(day) {
    return Array.from({ length: hours }, (_, hour) => {
      const index = day * hours + hour;
      const cell = make("button", { type: "button", class: "week-cell", tabindex: index === 0 ? 0 : -1, "data-cell": index });
      cell.addEventListener("click", (/** @type {MouseEvent} */ event) => {
        if (event.detail > 0 && this.#hasPainted) return;
        const rate = this.#next(index);
        if (rate !== undefined) this.#set(index, rate);
      });
      this.#buttons.push(cell);
      return make("div", { role: "gridcell" }, cell);
    });
  }

  /** A cell changes to what the brush sets, and back; undefined if that is no limit. @param {number} index @returns {Rate | undefined} */
  #next(index) {
    const rate = this.#pauses.checked ? "pause" : format.parseRate(this.#brush.value);
    setProblem(this.#brush, rate === undefined ? words.badRate : "");
    return rate === this.#cells[index] ? null : rate;
  }

  /** @param {Event} event */
  #indexAt(event) {
    const cell = event.target instanceof Element ? event.target.closest("[data-cell]") : null;
    return cell ? Number(cell.getAttribute("data-cell")) : -1;
  }

  /** @param {PointerEvent} event */
  #begin(event) {
    const index = this.#indexAt(event);
    // A finger that moves scrolls: what it selects is clear when it is lifted.
    this.#hasPainted = event.pointerType === "mouse";
    if (index < 0 || !this.#hasPainted) return;
    if (event.target instanceof Element) event.target.releasePointerCapture?.(event.pointerId);
    this.#painting = this.#next(index);
    if (this.#painting !== undefined) this.#set(index, this.#painting);
  }

  /** @param {PointerEvent} event */
  #paint(event) {
    const index = this.#indexAt(event);
    if (index >= 0 && this.#painting !== undefined) this.#set(index, this.#painting);
  }

  /** @param {number} index @param {Rate} rate */
  #set(index, rate) {
    this.#cells[index] = rate;
    this.#text.value = textOf(this.#cells) ?? "";
    this.#draw();
  }

  #read() {
    const found = cellsOf(this.#text.value);
    this.#note.textContent = found === null ? words.scheduleUnclear : found.isExact ? "" : words.scheduleWithinHours;
    if (!found) return;
    this.#cells = found.cells;
    this.#draw();
  }

  #draw() {
    const rates = [...new Set(this.#cells.filter((rate) => typeof rate === "number"))].sort((one, other) => one - other);
    this.#buttons.forEach((button, index) => {
      const rate = this.#cells[index];
      const limit = rate === null ? words.unlimited : rate === "pause" ? words.states.paused : format.speed(rate);
      const text = words.cellText(words.days[Math.floor(index / hours)], clock(index % hours), limit);
      setAttribute(button, "aria-label", text);
      setAttribute(button, "title", text);
      setAttribute(button, "data-rank", rate === null ? null : rate === "pause" ? rate : String(Math.min(3, rates.indexOf(rate))));
    });
  }

  /** @param {KeyboardEvent} event */
  #walk(event) {
    const index = this.#indexAt(event);
    // In narrow windows the days stand side by side.
    const [hour, day] = matchMedia("(max-width: 700px)").matches ? [hours, 1] : [1, hours];
    const step = { ArrowRight: hour, ArrowLeft: -hour, ArrowDown: day, ArrowUp: -day }[event.key];
    const next = this.#buttons[index + (step ?? NaN)];
    if (index < 0 || !next) return;
    event.preventDefault();
    this.#buttons[index].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}
