// The details of a download; each section updates itself.

import { at, make, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";
import { remediesOf, rowCommands } from "./commands.js";
import { pushLayer } from "./layers.js";
import { commandButtons } from "./toolbar.js";
import { icon } from "./icons.js";
import { nameOf, partOf } from "./queue.js";
import { rest } from "./rest.js";
import { meanText, percentOf, sizeText, stateText } from "./row.js";
import { words } from "./words.js";

/** @typedef {import("./queue.js").Row} Row */

/**
 * The details of a download, in addition to its row.
 * @typedef {Row & {
 *   sources: string[], ranges: [number, number][],
 *   lanes: {url: string, offset: number, end: number | null, speed: number, isReceiving: boolean}[],
 *   parts: string[], headers: string[], checksum: string | null,
 *   verification?: {level: string, algorithm: string, digest: string, source: string, weak: boolean, pieces?: number} | null,
 *   limit: number | null, file: "there" | "missing" | "changed" | null,
 *   log: Record<string, any>[], response: Record<string, any> | null,
 * }} Details
 */

export class Detail {
  #box = at("detail");
  /** @type {string | null} */
  #id = null;
  /** @type {{show: (details: Details) => void}[]} */
  #parts = [];
  #isAsking = false;
  #title = make("h2", { class: "detail-title" });
  #state = make("p", { class: "detail-state" });
  #done = make("i", { class: "fill" });
  #bar = make("div", { class: "bar", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100 }, this.#done);
  #figures = make("p", { class: "detail-figures" });
  #shield = make("p", { class: "detail-shield", hidden: true });
  #help = make("div", { class: "detail-help", hidden: true });
  #helped = "";
  /** The commands that stand beside the reason. @type {string[]} */
  #remedies = [];
  /** @type {() => void} */
  #drawButtons = () => {};
  /** @type {() => void} */
  #closed = () => {};
  #toolbar = make("div", { class: "detail-toolbar", role: "toolbar" });
  /** Another download is shown, or none; set by the page. @type {() => void} */
  onchange = () => {};

  /** @param {import("./view.js").View} view @param {import("./actions.js").Actions} actions @param {() => void} onclose */
  constructor(view, actions, onclose) {
    this.view = view;
    this.actions = actions;
    this.onclose = onclose;
    view.queue.addEventListener("change", () => this.#refresh());
  }

  get isOpen() {
    return this.#id !== null;
  }

  /** The download that is shown. */
  get shown() {
    return this.#id;
  }

  /** Shows the current row. */
  open() {
    const id = this.view.current;
    if (id === null || id === this.#id) return;
    if (!this.isOpen) this.#closed = pushLayer(() => this.close());
    this.#id = id;
    this.#recall(id);
    this.#build();
    this.#box.hidden = false;
    document.body.classList.add("has-detail");
    this.#refresh();
    this.onchange();
    if (matchMedia("(max-width: 1099px)").matches) this.#box.querySelector("button")?.focus();
  }

  /** The chart begins before this page was opened. @param {string} id */
  async #recall(id) {
    if (partOf(this.view.queue.rows.get(id) ?? /** @type {any} */ ({})) !== "running") return;
    const speeds = await this.actions.connection.call("pawl.speeds", id).catch(() => []);
    this.view.queue.recall(id, speeds);
  }

  /** Follows the current row while open. */
  follow() {
    if (this.isOpen) this.open();
  }

  toggle() {
    if (this.isOpen && this.#id === this.view.current) this.close();
    else this.open();
  }

  close() {
    if (!this.isOpen) return;
    this.#id = null;
    this.#closed();
    this.#parts = [];
    this.#box.hidden = true;
    this.#box.replaceChildren();
    document.body.classList.remove("has-detail");
    this.onchange();
    this.onclose();
  }

  translate() {
    const id = this.#id;
    if (id === null) return;
    this.#build();
    this.#refresh();
  }

  #build() {
    const { queue } = this.view;
    const sections = make("div", { class: "detail-parts", tabindex: 0, role: "region", "aria-label": words.details });
    this.#parts = [];
    this.#fill(sections);
    const rows = () => [queue.rows.get(this.#id ?? "")].filter((row) => row !== undefined);
    const buttons = commandButtons(this.actions, rows, { hasDetails: false, offered: () => this.#remedies });
    this.#drawButtons = buttons.draw;
    this.#toolbar.replaceChildren(...buttons.elements);
    this.#helped = "";
    this.#help.hidden = this.#shield.hidden = true;
    this.#toolbar.setAttribute("aria-label", words.actions);
    this.#box.replaceChildren(
      make(
        "header",
        { class: "detail-head" },
        make("div", { class: "detail-words" }, this.#title, this.#state, this.#bar, this.#figures, this.#shield),
        make("button", { type: "button", class: "quiet", "aria-label": words.close, onclick: () => this.close() }, icon("close")),
      ),
      this.#help,
      this.#toolbar,
      sections,
    );
  }

  /** @param {HTMLElement} sections */
  async #fill(sections) {
    const parts = (await rest()).detailParts(this.actions);
    if (!sections.isConnected) return;
    this.#parts = parts;
    sections.append(...parts.map((part) => part.element));
    this.#refresh();
  }

  /** Why it failed or waits for the next attempt, and what can be done about it. @param {Row} row */
  #showHelp(row) {
    const failure = row.error ?? (row.retryIn === undefined ? undefined : row.retry);
    const state = failure ? JSON.stringify([failure, partOf(row)]) : "";
    if (state === this.#helped) return;
    this.#helped = state;
    this.#help.hidden = !failure;
    this.#remedies = [];
    if (!failure) return;
    const isFailed = partOf(row) === "failed";
    const names = isFailed ? [...new Set([...remediesOf(row), "edit", "retry"])] : ["tryNow"];
    this.#remedies = names;
    const commands = rowCommands(this.actions);
    this.#help.replaceChildren(
      make("p", { title: failure.message }, row.error ? words.reason(failure) : words.cause(failure)),
      make(
        "div",
        { class: "detail-remedies" },
        names.map((name) => {
          const command = commands.find(({ word }) => word === name);
          const now = () => this.view.queue.rows.get(this.#id ?? "");
          return make(
            "button",
            { type: "button", class: name === names[0] ? "primary" : null, "data-remedy": name, onclick: () => {
              const current = now();
              if (current) command?.run([current.id], [current]);
            } },
            make("span", {}, words.toolbar[/** @type {keyof typeof words.toolbar} */ (name)]),
          );
        }),
      ),
    );
  }

  /** How far it is, at which speed, and until when. @param {Row} row */
  #showFigures(row) {
    const part = partOf(row);
    const percent = percentOf(row);
    const isMoving = part === "running" && (row.speed ?? 0) > 0;
    const figures = [
      percent !== null && part !== "finished" && format.percent(percent),
      sizeText(row),
      isMoving ? format.speed(row.speed ?? 0) : meanText(row),
      isMoving && row.timeLeft !== undefined && words.leftIn(format.duration(row.timeLeft)),
    ];
    this.#bar.hidden = !row.written || percent === null || part === "finished";
    this.#done.style.width = `${percent ?? 0}%`;
    setAttribute(this.#bar, "aria-label", words.progress);
    setAttribute(this.#bar, "aria-valuenow", percent === null ? null : String(Math.floor(percent)));
    setText(this.#figures, row.written || row.total !== undefined ? figures.filter((text) => text).map((text) => String(text).replaceAll(" ", "\u{A0}")).join(" · ") : "");
  }

  /** What the file was verified with, in words beside the mark. @param {Details} details */
  #showShield({ verification }) {
    this.#shield.hidden = !verification;
    const text = verification ? words.shield(words.verified[verification.level] ?? verification.level, verification.weak && verification.algorithm) : "";
    if (this.#shield.textContent !== text) this.#shield.replaceChildren(icon("shield"), text);
  }

  async #refresh() {
    if (this.#id === null || this.#isAsking) return;
    const id = this.#id;
    const row = this.view.queue.rows.get(id);
    if (!row) {
      if (this.view.queue.isReady) this.close();
      return;
    }
    setText(this.#title, nameOf(row));
    setText(this.#state, stateText(row));
    this.#box.dataset.part = partOf(row);
    this.#showFigures(row);
    this.#showHelp(row);
    this.#drawButtons();
    this.#isAsking = true;
    const details = await this.actions.connection.call("pawl.show", id).catch(() => null);
    this.#isAsking = false;
    if (this.#id !== id) {
      this.#refresh();
    } else if (details) {
      details.history = this.view.queue.history(id);
      this.#showShield(details);
      for (const part of this.#parts) part.show(details);
    }
  }
}
