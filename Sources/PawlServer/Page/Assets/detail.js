// The details of a download; each section updates itself.

import { at, make, setAttribute, setText } from "./dom.js";
import { toolbarActions, toolbarButton } from "./toolbar.js";
import { icon } from "./icons.js";
import { nameOf } from "./queue.js";
import { Facts } from "./facts.js";
import { Log } from "./log.js";
import { Preview } from "./preview.js";
import { stateText } from "./row.js";
import { Segments } from "./segments.js";
import { words } from "./words.js";

/** @typedef {import("./queue.js").Row} Row */

/**
 * The details of a download, in addition to its row.
 * @typedef {Row & {
 *   sources: string[], ranges: [number, number][],
 *   lanes: {url: string, offset: number, end: number | null, speed: number, isReceiving: boolean}[],
 *   headers: string[], checksum: string | null,
 *   verification?: {level: string, algorithm: string, digest: string, source: string, weak: boolean} | null,
 *   limit: number | null, file: "there" | "missing" | null,
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
  #toolbar = make("div", { class: "detail-toolbar", role: "toolbar" });

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

  /** Shows the current row. */
  open() {
    const id = this.view.current;
    if (id === null || id === this.#id) return;
    this.#id = id;
    this.#build();
    this.#box.hidden = false;
    document.body.classList.add("has-detail");
    this.#refresh();
    if (matchMedia("(max-width: 1099px)").matches) this.#box.querySelector("button")?.focus();
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
    this.#id = null;
    this.#parts = [];
    this.#box.hidden = true;
    this.#box.replaceChildren();
    document.body.classList.remove("has-detail");
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
    this.#parts = [
      new Preview(),
      new Segments(),
      new Facts(this.actions),
      new Log(),
    ];
    const rows = () => [queue.rows.get(this.#id ?? "")].filter((row) => row !== undefined);
    const buttons = toolbarActions(this.actions).filter(({ word }) => !["moveUp", "moveDown"].includes(word));
    this.#toolbar.replaceChildren(...buttons.map((action) => Object.assign(toolbarButton(action, rows), { action })));
    this.#toolbar.setAttribute("aria-label", words.actions);
    this.#box.replaceChildren(
      make(
        "header",
        { class: "detail-head" },
        make("div", { class: "detail-words" }, this.#title, this.#state),
        make("button", { type: "button", class: "quiet", "aria-label": words.close, onclick: () => this.close() }, icon("close")),
      ),
      this.#toolbar,
      make("div", { class: "detail-parts", tabindex: 0, role: "region", "aria-label": words.details }, this.#parts.map((part) => /** @type {any} */ (part).element)),
    );
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
    setText(this.#state, row.error ? words.failure(row.error) : stateText(row));
    setAttribute(this.#state, "title", row.error?.message ?? null);
    for (const button of this.#toolbar.children) button.hidden = !(/** @type {any} */ (button).action.fits([row]));
    this.#isAsking = true;
    const details = await this.actions.connection.call("pawl.show", id).catch(() => null);
    this.#isAsking = false;
    if (this.#id !== id) {
      this.#refresh();
    } else if (details) {
      details.history = this.view.queue.history(id);
      for (const part of this.#parts) part.show(details);
    }
  }
}
