// Assembles the page.

import { Actions } from "./actions.js";
import { showBanners } from "./banners.js";
import { columns, want, wanted } from "./columns.js";
import { Connection } from "./connection.js";
import { showToolbar } from "./toolbar.js";
import { Detail } from "./detail.js";
import { at, make } from "./dom.js";
import { showFilters } from "./filters.js";
import { icon } from "./icons.js";
import { listenForAddresses } from "./dropAndPaste.js";
import { listenForKeys } from "./keyboard.js";
import { List } from "./list.js";
import { openLogin, useCode, whoAmI } from "./login.js";
import { listenForPointing } from "./pointing.js";
import { openPopup } from "./popup.js";
import { setting, useDensity, useTheme } from "./preferences.js";
import { Queue } from "./queue.js";
import { rest } from "./rest.js";
import { Toasts } from "./toasts.js";
import { showTotals } from "./totals.js";
import { orders, View } from "./view.js";
import { showPauseAllButton } from "./pauseAllButton.js";
import { fillWords, textOf, useLanguage, words } from "./words.js";

/** The page: its parts and dialogs. */
export class Program {
  connection = new Connection();
  queue = new Queue();
  view = new View(this.queue);
  toasts = new Toasts();
  actions = new Actions(this.connection, this.queue, this.view, this.toasts);
  list = new List(this.view);
  detail = new Detail(this.view, this.actions, () => this.list.focus());
  /** Functions that refresh texts and numbers. @type {(() => void)[]} */
  #drawings = [];

  constructor() {
    this.#drawings = [
      showTotals(this.queue, () => this.openLimits()),
      showFilters(this.view),
      showToolbar(this.view, this.actions),
      showPauseAllButton(this.view, this.actions),
      showClearButton(this.view, this.actions),
      showEmptiness(this.view, () => this.openAdding([])),
      showSorting(this.view),
    ];
    showBanners(this.connection, this.queue);
    listenForPointing(this.list, this.view, this.actions, this.detail);
    listenForAddresses(at("landing"), this.connection, (found) => this.#take(found));
    addEventListener("hashchange", () => this.#takeHash());
    this.#loadRest();
    this.actions.showDetails = (id) => this.#showDetails(id);
    this.list.onheads = (event) => this.openColumns(event);
    listenForKeys(this);
    at("search").addEventListener("input", () => this.view.show({ text: at("search").value }));
    at("add-button").addEventListener("click", () => this.openAdding([]));
    at("menu-button").addEventListener("click", () => this.openMenu());
    at("menu-button").append(icon("menu"));
    at("search-icon").append(icon("search"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    this.connection.addEventListener("live", (event) => this.queue.take(/** @type {CustomEvent} */ (event).detail));
    this.connection.addEventListener("open", () => {
      this.#show("list");
      this.#takeHash();
    });
    this.connection.addEventListener("unauthorized", () => this.#lock(false));
    this.translate();
  }

  async start() {
    if (this.connection.hasEarly) return this.connection.connect();
    const code = await useCode();
    if ((await whoAmI()) === "unauthorized") this.#lock(code === "stale");
    else this.connection.connect();
  }

  /** Not logged in: no actions are possible. */
  get isLocked() {
    return document.documentElement.dataset.view !== "list";
  }

  /** Loads what the first rows do not need when they are there. */
  #loadRest() {
    const load = async () => {
      if (!this.queue.isReady) return;
      this.view.removeEventListener("change", load);
      try {
        (await rest()).notifyOf(this.queue, (id) => this.actions.showDetails(id));
      } catch {
        // The service is gone.
        this.connection.addEventListener("open", () => this.#loadRest(), { once: true });
      }
    };
    this.view.addEventListener("change", load);
  }

  /** Shows everything in the language that was chosen. */
  async changeLanguage() {
    await useLanguage(setting("language"));
    this.translate();
  }

  translate() {
    fillWords();
    at("add-button").replaceChildren(icon("add"), make("span", {}, words.add));
    this.redraw();
    this.list.translate();
    this.detail.translate();
  }

  redraw() {
    for (const draw of this.#drawings) draw();
  }

  /** @param {string[]} addresses @param {import("./dropAndPaste.js").Item[]} [items] */
  async openAdding(addresses, items = []) {
    (await rest()).openAdding(this.actions, addresses, items);
  }

  /** Handles what was pasted or dropped. @param {import("./addresses.js").Intake & Partial<import("./dropAndPaste.js").Found>} found */
  #take({ urls, refused, items = [], problems = [] }) {
    if (this.isLocked) return;
    for (const problem of problems) this.toasts.show(textOf(problem), { isError: true });
    if (urls.length + items.length > 0) this.openAdding(urls, items);
    else if (problems.length === 0) {
      this.toasts.show(refused.length > 0 ? words.unsupportedScheme(refused.join(", ")) : words.noURL, { isError: true });
    }
  }

  /** A link to `/#add=URL` opens the dialog; nothing is added without the user. */
  async #takeHash() {
    if (this.isLocked || !location.hash.startsWith("#add=")) return;
    let text = location.hash.slice("#add=".length);
    try {
      text = decodeURIComponent(text);
    } catch {
      // It is taken as it is.
    }
    history.replaceState(history.state, "", location.pathname);
    // Blanks of a URL were encoded; those between URLs were not.
    const encoded = text.replace(/^\s*[a-z\d]+:\/\/.*\S/gim, (line) => line.replace(/ (?! *[a-z\d]+:\/\/)/gi, "%20"));
    this.#take((await rest()).intake(encoded));
  }

  /** @param {string} id */
  #showDetails(id) {
    if (this.view.indexOf(id) < 0) showAll(this.view);
    this.view.choose(id);
    this.list.reveal();
    this.detail.open();
  }

  async openLimits() {
    (await rest()).openLimits(this.actions, () => this.openSettings("schedule"));
  }

  /** @param {"schedule" | null} [part] */
  async openSettings(part = null) {
    (await rest()).openServiceSettings(this.actions, part);
  }

  /** @param {MouseEvent} [event] */
  openColumns(event) {
    const names = new Set(wanted(this.view.part));
    const commands = columns.map(({ name }) => ({
      name, text: words.columns[name], icon: /** @type {const} */ (names.has(name) ? "done" : "none"), isChecked: names.has(name),
      run: () => (want(name, !names.has(name)), this.list.draw()),
    }));
    const place = event ? { x: event.clientX, y: event.clientY } : { anchor: at("menu-button") };
    openPopup(commands, { label: words.chooseColumns, ...place });
  }

  async openMenu() {
    (await rest()).openMenu(this);
  }

  async openHelp() {
    (await rest()).openHelp(this);
  }

  focusSearch() {
    at("search").focus();
    at("search").select();
  }

  /** @param {boolean} isStale */
  #lock(isStale) {
    this.#show("login");
    openLogin(isStale, () => {
      this.connection.addEventListener("open", () => this.list.focus(), { once: true });
      this.connection.connect();
    });
  }

  /** @param {"list" | "login"} view */
  #show(view) {
    const isList = view === "list";
    document.documentElement.dataset.view = view;
    at("login-main").hidden = isList;
    for (const part of ["top", "body"]) at(part).inert = !isList;
    if (isList) this.list.draw();
    else document.querySelector("dialog")?.close();
  }
}

/** @param {View} view @param {() => void} openAdding */
function showEmptiness(view, openAdding) {
  const box = at("empty");
  let shown = "";
  const draw = () => {
    const isEmpty = view.queue.isReady && view.rows.length === 0;
    const isAll = view.queue.rows.size === 0;
    box.hidden = !isEmpty;
    // There is nothing to search, to sort or to select.
    document.body.classList.toggle("is-empty", isEmpty && isAll);
    const state = isEmpty ? words.emptyTitle + isAll : "";
    if (state === shown) return;
    shown = state;
    box.replaceChildren(
      make("img", { src: "icon.svg", alt: "", width: 72, height: 72 }),
      make("h2", {}, isAll ? words.emptyTitle : words.noneTitle),
      make("p", {}, isAll ? (matchMedia("(hover: none)").matches ? words.emptyTextTouch : words.emptyText) : words.noneText),
      isAll
        ? make("button", { type: "button", class: "primary", onclick: openAdding }, icon("add"), words.addDownloads)
        : make("button", { type: "button", onclick: () => showAll(view) }, words.showAll),
    );
  };
  view.addEventListener("change", draw);
  return draw;
}

/** Takes finished downloads off the list, where they are shown. @param {View} view @param {Actions} actions */
function showClearButton(view, actions) {
  const button = at("clear");
  button.addEventListener("click", () => actions.clearFinished());
  const draw = () => (button.hidden = view.part !== "finished" || view.rows.length === 0);
  view.addEventListener("change", draw);
  return () => {
    button.setAttribute("aria-label", words.clearFinished);
    button.title = words.clearFinished;
    button.replaceChildren(icon("clear"), make("span", {}, words.clearFinished));
    draw();
  };
}

/** @param {View} view */
function showAll(view) {
  at("search").value = "";
  view.show({ part: "all", group: null, text: "" });
}

/** A menu of orders, for layouts without column headers. @param {View} view */
function showSorting(view) {
  const select = at("sorting");
  select.addEventListener("change", () => view.sort(select.value));
  view.addEventListener("change", () => (select.value = view.order));
  return () => {
    select.replaceChildren(...Object.keys(orders).map((value) => make("option", { value }, words.orders[value])));
    select.value = view.order;
  };
}

useTheme();
useDensity();
useLanguage(setting("language")).then(() => new Program().start());
