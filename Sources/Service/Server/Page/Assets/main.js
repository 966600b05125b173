// Assembles the page.

import { Actions } from "./actions.js";
import { showBanners } from "./banners.js";
import { Connection } from "./connection.js";
import { showToolbar } from "./toolbar.js";
import { Detail } from "./detail.js";
import { at, make } from "./dom.js";
import { showFilters } from "./filters.js";
import { icon } from "./icons.js";
import { listenForAddresses, readFiles } from "./dropAndPaste.js";
import { listenForKeys } from "./keyboard.js";
import { List } from "./list.js";
import { openLogin, useCode, whoAmI } from "./login.js";
import { listenForPointing } from "./pointing.js";
import { Place } from "./place.js";
import { setting, useDensity, useTheme } from "./preferences.js";
import { partOf, Queue } from "./queue.js";
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
  #place = new Place(this);
  /** Functions that refresh texts and numbers. @type {(() => void)[]} */
  #drawings = [];

  constructor() {
    this.#drawings = [
      showTotals(this.queue, () => this.openLimits()),
      showFilters(this.view),
      showToolbar(this.view, this.actions),
      showPauseAllButton(this.view, this.actions),
      showPartButton(this.view, this.actions),
      showSorting(this.view),
    ];
    showBanners(this.connection, this.queue);
    this.queue.addEventListener("problem", (event) => this.toasts.show(textOf(/** @type {CustomEvent} */ (event).detail), { isError: true }));
    listenForPointing(this.list, this.view, this.actions, this.detail);
    listenForAddresses(at("landing"), this.connection, (found) => this.#take(found, true));
    addEventListener("hashchange", () => {
      if (this.isLocked) this.#logIn();
      else if (!this.#takeLink()) this.#place.changed();
    });
    this.#loadRest();
    this.actions.showDetails = (id) => this.showDetails(id);
    this.detail.onchange = () => this.#place.write();
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
      this.#takeLink();
      this.#place.begin();
      this.#takeOpened();
    });
    this.connection.addEventListener("unauthorized", () => this.#lock(false));
    this.translate();
  }

  /** Uses the code of a link that was opened in the tab of the login. */
  async #logIn() {
    const code = await useCode();
    if (code === "used") this.connection.connect();
    else if (code === "stale") this.#lock(true);
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
        const { notifyOf, showEmptiness } = await rest();
        notifyOf(this.queue, (id) => this.actions.showDetails(id));
        const draw = showEmptiness(this);
        this.#drawings.push(draw);
        draw();
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

  /** @param {string[]} addresses @param {import("./dropAndPaste.js").Item[]} [items] @param {boolean} [checks] */
  async openAdding(addresses, items = [], checks = false) {
    (await rest()).openAdding(this.actions, addresses, items, checks);
  }

  /**
   * Handles what was pasted, dropped or handed over.
   * @param {import("./addresses.js").Intake & Partial<import("./dropAndPaste.js").Found>} found
   * @param {boolean} [isOwn] the user did it on this page: a single URL is checked at once
   */
  async #take({ urls, refused, items = [], torrents = [], problems = [] }, isOwn = false) {
    if (this.isLocked) return;
    for (const problem of problems) this.toasts.show(textOf(problem), { isError: true });
    if (urls.length + items.length > 0) this.openAdding(urls, items, isOwn);
    else if (torrents.length > 0) (await rest()).openTorrent(this.actions, torrents[0]);
    else if (problems.length === 0) {
      this.toasts.show(refused.length > 0 ? words.unsupportedScheme(refused.join(", ")) : words.noURL, { isError: true });
    }
  }

  /** A link to `/#add=URL`, or what was shared with the page, opens the dialog; nothing is requested or added without the user. */
  #takeLink() {
    const { search, hash } = location;
    if (!hash.startsWith("#add=") && !/[?&](url|text|title)=/.test(search)) return false;
    history.replaceState(history.state, "", location.pathname);
    this.#place.rewrite();
    rest().then(({ handedOver, intake }) => this.#take(intake(handedOver(search, hash))));
    return true;
  }

  /** Files that the system opens with the installed page, from then on. */
  #takeOpened() {
    const { launchQueue } = /** @type {any} */ (globalThis);
    launchQueue?.setConsumer(async (/** @type {{files?: {getFile: () => Promise<File>}[]}} */ { files = [] }) => {
      if (files.length > 0) this.#take(await readFiles(this.connection, await Promise.all(files.map((file) => file.getFile()))));
    });
  }

  /** @param {string} id */
  showDetails(id) {
    if (this.view.indexOf(id) < 0) this.showOnly();
    this.view.choose(id);
    this.list.reveal();
    this.detail.open();
  }

  /** All downloads, or those of a filter. */
  showOnly(filter = { part: "all", group: /** @type {string | null} */ (null), text: "" }) {
    at("search").value = filter.text;
    this.view.show(filter);
  }

  async openConnect() {
    (await rest()).openConnect(this.actions);
  }

  async openLimits() {
    (await rest()).openLimits(this.actions, () => this.openSettings("schedule"));
  }

  /** @param {"schedule" | null} [part] */
  async openSettings(part = null) {
    (await rest()).openServiceSettings(this.actions, part);
  }

  /** @param {MouseEvent} [event] */
  async openColumns(event) {
    (await rest()).openColumns(this, event);
  }

  async openMenu() {
    (await rest()).openMenu(this);
  }

  async openHelp() {
    (await rest()).openHelp(this);
  }

  /** Whether there was something to clear. */
  clearSearch() {
    if (at("search").value === "") return false;
    this.showOnly({ part: this.view.part, group: this.view.group, text: "" });
    return true;
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

/** What is done with all that a filter shows: finished downloads are taken off the list, failed ones retried. @param {View} view @param {Actions} actions */
function showPartButton(view, actions) {
  const button = at("clear");
  /** @type {Record<string, {icon: import("./icons.js").Icon, word: "clearFinished" | "retryAll", run: () => void}>} */
  const commands = {
    finished: { icon: "clear", word: "clearFinished", run: () => actions.clearFinished() },
    failed: { icon: "retry", word: "retryAll", run: () => actions.resume(view.rows.filter((row) => partOf(row) === "failed").map(({ id }) => id)) },
  };
  button.addEventListener("click", () => commands[view.part]?.run());
  let shown = "";
  const draw = () => {
    const command = commands[view.part];
    button.hidden = !command || view.rows.length === 0;
    const text = command ? words[command.word] : "";
    if (!command || text === shown) return;
    shown = text;
    button.setAttribute("aria-label", text);
    button.title = text;
    button.replaceChildren(icon(command.icon), make("span", {}, text));
  };
  view.addEventListener("change", draw);
  return draw;
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
