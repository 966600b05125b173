// The commands for downloads: one table for the toolbar, the context menu and the details.

import * as format from "./format.js";
import { isCollection, isForbidden, isInLine, isOfServer, isOfStore, partOf } from "./queue.js";
import { words } from "./words.js";

/** @typedef {import("./queue.js").Row} Row */

/**
 * @typedef {object} RowCommand
 * @property {keyof typeof words.toolbar} word
 * @property {import("./icons.js").Icon} icon
 * @property {string} [key] its shortcut
 * @property {boolean} [isDangerous]
 * @property {boolean} [begins] begins a group of the menu
 * @property {boolean} [isMain] stands in toolbars, not only in menus
 * @property {(rows: Row[]) => string} [text] its text in menus, if that depends on the rows
 * @property {(rows: Row[]) => boolean} fits
 * @property {(ids: string[], rows: Row[]) => void} run
 */

/** @param {Row} row */
const isFinished = (row) => partOf(row) === "finished";

/** Its failure is a refused or missing login. @param {Row} row */
export const wantsLogin = (row) => row.error?.code === 24 && !isOfStore(row.error);

/** Its folder can be changed: nothing was written to it. @param {Row} row */
const mayMove = (row) => row.name === undefined;

/** The bytes that a removal discards: those received of unfinished downloads. @param {Row[]} rows */
export const discarded = (rows) => rows.reduce((sum, row) => sum + (isFinished(row) || isCollection(row) ? 0 : row.written ?? 0), 0);

/** A removal, with what happens to files and to what was received. @param {Row[]} rows */
function removalText(rows) {
  const bytes = discarded(rows);
  if (rows.some(isFinished)) return bytes > 0 ? words.removeDiscardingKeeping(format.size(bytes)) : words.toolbar.remove;
  return bytes > 0 ? words.removeDiscarding(format.size(bytes)) : words.toolbar.removeMenu;
}

/** @param {import("./actions.js").Actions} actions @returns {RowCommand[]} */
export function rowCommands(actions) {
  const some = (/** @type {(row: Row) => boolean} */ fits) => (/** @type {Row[]} */ rows) => rows.some(fits);
  const one = (/** @type {(row: Row) => boolean} */ fits) => (/** @type {Row[]} */ rows) => rows.length === 1 && fits(rows[0]);
  const any = (/** @type {Row[]} */ rows) => rows.length > 0;
  /** @type {RowCommand[]} */
  const commands = [
    { word: "details", icon: "details", key: "Enter", fits: one(() => true), run: (_, [row]) => actions.showDetails(row.id) },
    { word: "pause", icon: "pause", key: "Space", isMain: true, begins: true, fits: some((row) => row.toggle === "pause"), run: (ids) => actions.pause(ids) },
    { word: "resume", icon: "continue", key: "Space", isMain: true, fits: some((row) => partOf(row) === "paused"), run: (ids) => actions.resume(ids) },
    { word: "retry", icon: "retry", key: "Space", isMain: true, fits: some((row) => partOf(row) === "failed"), run: (ids) => actions.resume(ids) },
    { word: "tryNow", icon: "retry", isMain: true, fits: some((row) => row.retryIn !== undefined), run: (ids) => actions.tryNow(ids) },
    { word: "force", icon: "force", key: "F", isMain: true, fits: some((row) => isInLine(row)), run: (ids) => actions.force(ids) },
    { word: "signIn", icon: "user", isMain: true, fits: one((row) => wantsLogin(row)), run: (_, [row]) => actions.signIn(row) },
    { word: "open", icon: "open", key: "O", isMain: true, fits: one(isFinished), run: (_, [row]) => actions.open(row) },
    { word: "save", icon: "save", fits: one(isFinished), run: (_, [row]) => actions.open(row, true) },
    { word: "check", icon: "check", fits: one(isFinished), run: (_, [row]) => actions.check(row) },
    { word: "edit", icon: "edit", key: "E", begins: true, fits: one((row) => !isFinished(row)), run: (_, [row]) => actions.edit(row) },
    { word: "changeFolder", icon: "folder", fits: one((row) => partOf(row) === "failed" && mayMove(row)), run: (_, [row]) => actions.edit(row, "folder") },
    { word: "rename", icon: "rename", key: "F2", fits: one(() => true), run: (_, [row]) => actions.rename(row) },
    { word: "replaceURL", icon: "link", key: "U", fits: one((row) => !isFinished(row)), run: (_, [row]) => actions.replaceURL(row) },
    { word: "startOver", icon: "retry", fits: one((row) => partOf(row) === "failed" || row.state === "waitingForDisk"), run: (_, [row]) => actions.startOver(row) },
    { word: "copyURL", icon: "copy", key: "Ctrl C", fits: any, run: (ids) => actions.copyURLs(ids) },
    { word: "first", icon: "first", key: "Alt Home", begins: true, fits: some(isInLine), run: () => actions.moveToEdge(false) },
    { word: "moveUp", icon: "up", key: "Alt ↑", fits: some(isInLine), run: () => actions.moveBy(-1) },
    { word: "moveDown", icon: "down", key: "Alt ↓", fits: some(isInLine), run: () => actions.moveBy(1) },
    { word: "last", icon: "last", key: "Alt End", fits: some(isInLine), run: () => actions.moveToEdge(true) },
    { word: "raise", icon: "priority", key: "+", fits: some(isInLine), run: (ids) => actions.prioritise(ids, 1) },
    { word: "lower", icon: "priority", key: "−", fits: some(isInLine), run: (ids) => actions.prioritise(ids, -1) },
    { word: "remove", icon: "close", key: "Del", begins: true, text: removalText, fits: any, run: (ids) => actions.remove(ids, true) },
    { word: "removeFile", icon: "remove", key: "⇧ Del", isDangerous: true, fits: some(isFinished), run: (ids) => actions.remove(ids, false) },
  ];
  const ofAll = new Set(["pause", "resume", "retry", "remove"]);
  return commands.map((command) => ({
    ...command, fits: (rows) => command.fits(rows) && (ofAll.has(command.word) || !rows.some(isCollection)),
  }));
}

/**
 * Those that fit, as items of a menu.
 * @param {RowCommand[]} commands
 * @param {Row[]} rows
 * @returns {import("./popup.js").Command[]}
 */
export function menuOf(commands, rows) {
  const ids = rows.map(({ id }) => id);
  let begins = false;
  return commands.flatMap((command, index) => {
    begins ||= Boolean(command.begins);
    if (!command.fits(rows)) return [];
    const item = {
      name: command.word, text: command.text?.(rows) ?? words.toolbar[command.word], icon: command.icon, key: command.key,
      isDangerous: command.isDangerous, begins: begins && index > 0, run: () => command.run(ids, rows),
    };
    begins = false;
    return [item];
  }).map((item, index) => (index === 0 ? { ...item, begins: false } : item));
}

/** The commands that may end a failure, by its code, the most likely first. @type {Record<number, (keyof typeof words.toolbar)[]>} */
const remedies = {
  2: ["retry", "replaceURL"], 3: ["replaceURL"], 5: ["retry", "replaceURL"], 6: ["retry", "replaceURL"],
  8: ["replaceURL", "startOver"], 9: ["retry", "changeFolder"], 11: ["rename", "retry"], 13: ["rename"], 14: ["rename", "retry"],
  15: ["changeFolder", "retry"], 16: ["changeFolder", "retry"], 17: ["retry", "changeFolder"], 18: ["changeFolder", "retry"],
  19: ["replaceURL", "retry"], 22: ["replaceURL", "retry"], 23: ["replaceURL"], 28: ["edit"],
  29: ["retry", "replaceURL"], 32: ["edit", "startOver"], 33: ["replaceURL", "edit"], 35: ["replaceURL"], 36: ["replaceURL"],
};

/** The commands that may help a failed download, the most likely first. @param {Row} row @returns {(keyof typeof words.toolbar)[]} */
export function remediesOf(row) {
  if (wantsLogin(row)) return isForbidden(row.error) ? ["replaceURL", "signIn"] : ["signIn", "replaceURL"];
  if (isOfServer(row.error)) return ["retry", "replaceURL"];
  const names = (remedies[row.error?.code ?? 0] ?? []).filter((name) => name !== "changeFolder" || mayMove(row));
  return names.length > 0 ? names : ["retry"];
}
