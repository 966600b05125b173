// Buttons for the selected rows.

import { at, make } from "./dom.js";
import { icon } from "./icons.js";
import { isInLine, partOf } from "./queue.js";
import { words } from "./words.js";

/** @typedef {import("./queue.js").Row} Row */

/**
 * @typedef {object} ToolbarAction
 * @property {keyof typeof words.toolbar} word
 * @property {import("./icons.js").Icon} icon
 * @property {(rows: Row[]) => boolean} fits
 * @property {(ids: string[], rows: Row[]) => void} run
 */

/** @param {import("./actions.js").Actions} actions @returns {ToolbarAction[]} */
export function toolbarActions(actions) {
  const some = (/** @type {(row: Row) => boolean} */ fits) => (/** @type {Row[]} */ rows) => rows.some(fits);
  const ended = (/** @type {Row} */ row) => partOf(row) === "finished";
  return [
    { word: "pause", icon: "pause", fits: some((row) => row.toggle === "pause"), run: (ids) => actions.pause(ids) },
    { word: "resume", icon: "continue", fits: some((row) => partOf(row) === "paused"), run: (ids) => actions.resume(ids) },
    { word: "retry", icon: "download", fits: some((row) => partOf(row) === "failed"), run: (ids) => actions.resume(ids) },
    { word: "tryNow", icon: "download", fits: some((row) => row.retryIn !== undefined), run: (ids) => actions.tryNow(ids) },
    { word: "force", icon: "force", fits: some((row) => isInLine(row)), run: (ids) => actions.force(ids) },
    { word: "moveUp", icon: "up", fits: some(isInLine), run: () => actions.moveBy(-1) },
    { word: "moveDown", icon: "down", fits: some(isInLine), run: () => actions.moveBy(1) },
    { word: "rename", icon: "rename", fits: (rows) => rows.length === 1, run: (_, [row]) => actions.rename(row) },
    { word: "replaceURL", icon: "link", fits: (rows) => rows.length === 1 && !ended(rows[0]), run: (_, [row]) => actions.replaceURL(row) },
    { word: "copyURL", icon: "copy", fits: (rows) => rows.length > 0, run: (ids) => actions.copyURLs(ids) },
    { word: "open", icon: "open", fits: (rows) => rows.length === 1 && ended(rows[0]), run: (_, [row]) => actions.open(row) },
    { word: "save", icon: "save", fits: (rows) => rows.length === 1 && ended(rows[0]), run: (_, [row]) => actions.open(row, true) },
    { word: "remove", icon: "remove", fits: (rows) => rows.length > 0, run: (ids) => actions.remove(ids, true) },
    { word: "removeFile", icon: "shred", fits: (rows) => rows.length > 0, run: (ids) => actions.remove(ids, false) },
  ];
}

/** @param {ToolbarAction} action @param {() => Row[]} rows */
export function toolbarButton(action, rows) {
  const text = words.toolbar[action.word];
  return make(
    "button",
    {
      type: "button", class: "quiet action", "data-action": action.word, "aria-label": text, title: text,
      onclick: () => action.run(rows().map(({ id }) => id), rows()),
    },
    icon(action.icon),
  );
}

/** @param {import("./view.js").View} view @param {import("./actions.js").Actions} actions */
export function showToolbar(view, actions) {
  const box = at("toolbar");
  const rows = () => view.chosenRows;
  /** @type {{action: ToolbarAction, button: HTMLElement}[]} */
  let buttons = [];
  const count = make("span", { class: "chosen-count", role: "status" });
  const choosing = make("button", { type: "button", class: "quiet action choosing", "aria-pressed": "false" }, icon("select"));
  choosing.addEventListener("click", () => {
    const isOn = document.body.classList.toggle("is-choosing");
    choosing.setAttribute("aria-pressed", String(isOn));
    if (!isOn) view.chooseNone();
  });
  const draw = () => {
    const chosen = rows();
    count.textContent = chosen.length > 1 ? words.chosen(chosen.length) : "";
    for (const { action, button } of buttons) button.hidden = chosen.length === 0 || !action.fits(chosen);
  };
  const make_ = () => {
    buttons = toolbarActions(actions).map((action) => ({ action, button: toolbarButton(action, rows) }));
    choosing.setAttribute("aria-label", words.toolbar.choosing);
    choosing.title = words.toolbar.choosing;
    box.replaceChildren(choosing, ...buttons.map(({ button }) => button), count);
    draw();
  };
  view.addEventListener("change", draw);
  make_();
  return make_;
}
