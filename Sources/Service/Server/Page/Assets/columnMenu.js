// The menu of the columns: what is wanted, and for what there is no room.

import { columns, fitting, want, wanted } from "./columns.js";
import { at } from "./dom.js";
import { openPopup } from "./popup.js";
import { words } from "./words.js";

/** @param {import("./main.js").Program} program @param {MouseEvent} [event] */
export function openColumns(program, event) {
  const { part } = program.view;
  const names = new Set(wanted(part));
  const shown = new Set(fitting(at("grid").clientWidth, part).map(({ name }) => name));
  const commands = columns.map(({ name }) => {
    const isWanted = names.has(name);
    const text = isWanted && !shown.has(name) ? words.noRoomFor(words.columns[name]) : words.columns[name];
    return {
      name, text, icon: /** @type {const} */ (isWanted ? "done" : "none"), isChecked: isWanted,
      run: () => (want(part, name, !isWanted), program.list.draw()),
    };
  });
  const place = event ? { x: event.clientX, y: event.clientY } : { anchor: at("menu-button") };
  openPopup(commands, { label: words.chooseColumns, ...place });
}
