// The list: virtualized, only visible rows exist.

import { columns, fitting, template } from "./columns.js";
import { at, make, setAttribute } from "./dom.js";
import { RowElement } from "./row.js";
import { words } from "./words.js";

const margin = 6;

/** The columns and the orders that their headers select. */
const headers = [{ name: "toggle", order: "" }, { name: "name", order: "name" }, ...columns, { name: "info", order: "" }];

export class List {
  #grid = at("grid");
  #space = at("rows");
  #heads = at("heads");
  /** @type {RowElement[]} */
  #pool = [];
  #isDue = false;
  /** @type {HTMLElement[]} */
  #headCells = [];
  #shown = "";
  /** A menu of the columns is wanted. @type {((event: MouseEvent) => void) | null} */
  onheads = null;

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
    this.#makeHeads();
    view.addEventListener("change", () => this.draw());
    this.#grid.addEventListener("scroll", () => this.#drawSoon(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.#grid);
    this.#heads.addEventListener("contextmenu", (/** @type {MouseEvent} */ event) => {
      event.preventDefault();
      this.onheads?.(event);
    });
    this.#heads.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#walkHeads(event));
  }

  get rowHeight() {
    return parseFloat(getComputedStyle(this.#grid).getPropertyValue("--row")) || 56;
  }

  /** The number of rows that fit into the window. */
  get pageLength() {
    return Math.max(1, Math.floor((this.#grid.clientHeight - this.#heads.offsetHeight) / this.rowHeight) - 1);
  }

  /** Shows everything in the current language. */
  translate() {
    this.#makeHeads();
    for (const row of this.#pool) row.forget();
    this.draw();
  }

  #drawSoon() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.draw();
    });
  }

  draw() {
    const { rows, chosen, current } = this.view;
    this.#fitColumns();
    const height = this.rowHeight;
    const first = Math.max(0, Math.floor(this.#grid.scrollTop / height) - margin);
    const count = Math.ceil(this.#grid.clientHeight / height) + 2 * margin;
    const end = Math.min(rows.length, first + count);
    this.#space.style.height = `${rows.length * height}px`;
    while (this.#pool.length < end - first) this.#addRow();
    // A row keeps its element while it is visible, so that a press ends on the element where it began.
    for (let slot = 0; slot < this.#pool.length; slot += 1) {
      const size = this.#pool.length;
      const index = first + ((slot - first) % size + size) % size;
      const { element } = this.#pool[slot];
      element.hidden = index >= end;
      if (index >= end) {
        element.removeAttribute("id");
        this.#pool[slot].forget();
        continue;
      }
      const row = rows[index];
      this.#pool[slot].show(row, {
        index,
        top: index * height,
        isChosen: chosen.has(row.id),
        isCurrent: row.id === current,
        isOpened: this.view.opened.has(row.id),
        isMember: this.view.queue.isMember(row),
      });
    }
    setAttribute(this.#grid, "aria-rowcount", String(rows.length + 1));
    const isShown = current !== null && document.getElementById(`row-${current}`) !== null;
    setAttribute(this.#grid, "aria-activedescendant", isShown ? `row-${current}` : null);
    this.#showOrder();
  }

  /** Hides the columns that are not wanted or do not fit. */
  #fitColumns() {
    const shown = fitting(this.#grid.clientWidth, this.view.part);
    const names = shown.map(({ name }) => name).join(" ");
    if (names === this.#shown) return;
    this.#shown = names;
    this.#grid.dataset.columns = names;
    this.#grid.style.setProperty("--columns", template(shown));
  }

  #addRow() {
    const row = new RowElement();
    this.#pool.push(row);
    this.#space.append(row.element);
  }

  /** Scrolls the current row into view. */
  reveal() {
    const index = this.view.indexOf(this.view.current);
    if (index < 0) return;
    const height = this.rowHeight;
    const room = this.#grid.clientHeight - this.#heads.offsetHeight;
    const top = index * height;
    if (top < this.#grid.scrollTop) this.#grid.scrollTop = top;
    else if (top + height > this.#grid.scrollTop + room) this.#grid.scrollTop = top + height - room;
    this.draw();
  }

  focus() {
    this.#grid.focus({ preventScroll: true });
  }

  /** The download of an event's target. @param {EventTarget | null} target */
  idAt(target) {
    return target instanceof Element ? target.closest?.(".row")?.getAttribute("data-id") ?? null : null;
  }

  // MARK: headers

  #makeHeads() {
    this.#headCells = headers.map(({ name, order = name }) => {
      // The first is where Tab stops; arrows lead to the others.
      const tabindex = name === "name" ? 0 : -1;
      const button = make("button", { type: "button", tabindex, onclick: () => this.view.sort(order) }, words.columns[name]);
      return make(
        "div",
        { role: "columnheader", class: `head cell-${name}`, "data-order": order },
        order === "" ? make("span", { class: "unseen" }, words.columns[name]) : button,
      );
    });
    this.#heads.replaceChildren(make("div", { role: "row", class: "head-row", "aria-rowindex": 1 }, this.#headCells));
  }

  /** @param {KeyboardEvent} event */
  #walkHeads(event) {
    const buttons = [...this.#heads.querySelectorAll("button")].filter((button) => button.checkVisibility());
    const index = buttons.indexOf(event.target);
    const next = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (next === undefined || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    buttons[next]?.focus();
  }

  #showOrder() {
    for (const head of this.#headCells) {
      const isSorted = head.dataset.order === this.view.order;
      setAttribute(head, "aria-sort", isSorted ? (this.view.isReversed ? "descending" : "ascending") : null);
    }
  }
}
