// Keyboard shortcuts: one table, also shown in the help.

import { isCollection, partOf } from "./queue.js";

/**
 * @typedef {object} Shortcut
 * @property {string[]} keys as shown in the help
 * @property {keyof typeof import("./words.en.js").english.keys} text
 * @property {"list" | "moving" | "one" | "page"} part
 * @property {(event: KeyboardEvent) => boolean} fits
 * @property {(event: KeyboardEvent) => void} run
 */

/** @param {KeyboardEvent} event @param {string} key */
const plain = (event, key) => event.key === key && !event.ctrlKey && !event.metaKey && !event.altKey;
/** @param {KeyboardEvent} event @param {string} key */
const control = (event, key) => event.key.toLowerCase() === key && (event.ctrlKey || event.metaKey) && !event.altKey;
/** @param {KeyboardEvent} event @param {string} key */
const alternate = (event, key) => event.key === key && event.altKey;

/**
 * @param {import("./main.js").Program} program
 * @returns {Shortcut[]}
 */
export function shortcutsOf(program) {
  const { view, list, actions, detail } = program;
  const chosen = () => [...view.chosen];
  const first = () => view.chosenRows[0];
  const one = (/** @type {(row: any) => void} */ run) => () => first() && run(first());
  const go = (/** @type {number} */ steps, /** @type {KeyboardEvent} */ event) => {
    view.go(steps, event.shiftKey);
    list.reveal();
    list.focus();
    detail.follow();
  };
  const parts = ["all", "running", "waiting", "paused", "finished", "failed"];
  return [
    { part: "list", keys: ["↓", "↑"], text: "next", fits: (e) => plain(e, "ArrowDown"), run: (e) => go(1, e) },
    { part: "list", keys: [], text: "next", fits: (e) => plain(e, "ArrowUp"), run: (e) => go(-1, e) },
    { part: "list", keys: ["PgDn", "PgUp"], text: "page_", fits: (e) => plain(e, "PageDown"), run: (e) => go(list.pageLength, e) },
    { part: "list", keys: [], text: "page_", fits: (e) => plain(e, "PageUp"), run: (e) => go(-list.pageLength, e) },
    { part: "list", keys: ["Home", "End"], text: "ends", fits: (e) => plain(e, "Home"), run: (e) => go(-Infinity, e) },
    { part: "list", keys: [], text: "ends", fits: (e) => plain(e, "End"), run: (e) => go(Infinity, e) },
    { part: "list", keys: ["⇧ ↓", "⇧ ↑"], text: "extend", fits: () => false, run: () => {} },
    { part: "list", keys: ["Ctrl A"], text: "all", fits: (e) => control(e, "a"), run: () => view.chooseAll() },
    { part: "list", keys: ["Space"], text: "toggle", fits: (e) => plain(e, " "), run: () => actions.toggle(chosen()) },
    { part: "list", keys: ["Enter"], text: "open", fits: (e) => plain(e, "Enter"), run: () => (first() && isCollection(first()) ? view.toggleOpened(first().id) : detail.toggle()) },
    { part: "list", keys: ["Del"], text: "remove", fits: (e) => plain(e, "Delete") && !e.shiftKey, run: () => actions.remove(chosen(), true) },
    { part: "list", keys: ["⇧ Del"], text: "removeFile", fits: (e) => plain(e, "Delete") && e.shiftKey, run: () => actions.remove(chosen(), false) },
    { part: "list", keys: ["Ctrl Z"], text: "undo", fits: (e) => control(e, "z"), run: () => actions.undo() },
    { part: "moving", keys: ["F"], text: "force", fits: (e) => plain(e, "f"), run: () => actions.force(chosen()) },
    { part: "moving", keys: ["Alt ↑", "Alt ↓"], text: "up", fits: (e) => alternate(e, "ArrowUp"), run: () => actions.moveBy(-1) },
    { part: "moving", keys: [], text: "up", fits: (e) => alternate(e, "ArrowDown"), run: () => actions.moveBy(1) },
    { part: "moving", keys: ["Alt Home", "Alt End"], text: "edge", fits: (e) => alternate(e, "Home"), run: () => actions.moveToEdge(false) },
    { part: "moving", keys: [], text: "edge", fits: (e) => alternate(e, "End"), run: () => actions.moveToEdge(true) },
    { part: "moving", keys: ["+", "−"], text: "raise", fits: (e) => plain(e, "+"), run: () => actions.prioritise(chosen(), 1) },
    { part: "moving", keys: [], text: "raise", fits: (e) => plain(e, "-"), run: () => actions.prioritise(chosen(), -1) },
    { part: "moving", keys: ["P"], text: "whole", fits: (e) => plain(e, "p"), run: () => actions.toggleWhole() },
    { part: "one", keys: ["F2"], text: "rename", fits: (e) => plain(e, "F2"), run: one((row) => !isCollection(row) && actions.rename(row)) },
    { part: "one", keys: ["E"], text: "edit", fits: (e) => plain(e, "e"), run: one((row) => partOf(row) !== "finished" && !isCollection(row) && actions.edit(row)) },
    { part: "one", keys: ["U"], text: "url", fits: (e) => plain(e, "u"), run: one((row) => !isCollection(row) && actions.replaceURL(row)) },
    { part: "one", keys: ["Ctrl C"], text: "copy", fits: (e) => control(e, "c") && String(getSelection()) === "", run: () => actions.copyURLs(chosen()) },
    { part: "one", keys: ["O"], text: "file", fits: (e) => plain(e, "o"), run: one((row) => !isCollection(row) && actions.open(row)) },
    { part: "page", keys: ["N"], text: "add", fits: (e) => plain(e, "n"), run: () => program.openAdding([]) },
    { part: "page", keys: ["Ctrl V"], text: "paste", fits: () => false, run: () => {} },
    { part: "page", keys: ["/"], text: "search", fits: (e) => plain(e, "/"), run: () => program.focusSearch() },
    { part: "page", keys: ["1 … 6"], text: "filter", fits: (e) => /^[1-6]$/.test(e.key) && plain(e, e.key), run: (e) => view.show({ part: parts[Number(e.key) - 1], group: null }) },
    { part: "page", keys: [","], text: "settings", fits: (e) => plain(e, ","), run: () => program.openSettings() },
    { part: "page", keys: ["L"], text: "limits", fits: (e) => plain(e, "l"), run: () => program.openLimits() },
    { part: "page", keys: ["M"], text: "menu", fits: (e) => plain(e, "m"), run: () => program.openMenu() },
    { part: "page", keys: ["?"], text: "help", fits: (e) => e.key === "?", run: () => program.openHelp() },
    { part: "page", keys: ["Esc"], text: "escape", fits: (e) => plain(e, "Escape"), run: () => (detail.isOpen ? detail.close() : view.chooseNone()) },
  ];
}

/** @param {import("./main.js").Program} program */
export function listenForKeys(program) {
  const shortcuts = shortcutsOf(program);
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (!(target instanceof Element) || program.isLocked || target.closest(".popup")) return;
    // A click beside its fields takes the focus out of a dialog; what is behind it gets no keys.
    if (document.querySelector("dialog[open]")) return;
    if (target.matches("input, textarea, select")) {
      const leavesSearch = event.key === "Enter" && target.id === "search";
      if (event.key !== "Escape" && !leavesSearch) return;
      event.preventDefault();
      if (target.id !== "search") /** @type {HTMLElement} */ (target).blur();
      else if (leavesSearch || !program.clearSearch()) program.list.focus();
      return;
    }
    // Buttons, links and players handle their own keys.
    const isOwn = target.closest("button, a, video, audio, summary") && [" ", "Enter", "ArrowUp", "ArrowDown"].includes(event.key);
    if (isOwn && !event.altKey) return;
    const shortcut = shortcuts.find((other) => other.fits(event));
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run(event);
  });
}
