// The commands for the selected rows, with their names.

import { menuOf, rowCommands } from "./commands.js";
import { at, make } from "./dom.js";
import { icon } from "./icons.js";
import { pushLayer } from "./layers.js";
import { openPopup } from "./popup.js";
import { words } from "./words.js";

/** @typedef {import("./queue.js").Row} Row */
/** @typedef {import("./commands.js").RowCommand} RowCommand */

/** @param {RowCommand} command @param {() => Row[]} rows */
function commandButton(command, rows) {
  const text = words.toolbar[command.word];
  return make(
    "button",
    {
      type: "button", class: "action", "data-action": command.word, "aria-label": text, title: text,
      onclick: () => command.run(rows().map(({ id }) => id), rows()),
    },
    icon(command.icon),
    make("span", {}, text),
  );
}

/**
 * A button that opens a menu of commands.
 * @param {string} name
 * @param {import("./icons.js").Icon} picture
 * @param {string} text
 * @param {() => import("./popup.js").Command[]} commands
 */
function menuButton(name, picture, text, commands) {
  const button = make(
    "button",
    { type: "button", class: "action has-menu", "data-action": name, "aria-label": text, title: text, "aria-haspopup": "menu", "aria-expanded": "false" },
    icon(picture),
    make("span", {}, text),
  );
  button.addEventListener("click", () => openPopup(commands(), { label: text, anchor: button }));
  return button;
}

/**
 * Buttons for the main commands, one for removal, and one for the rest.
 * @param {import("./actions.js").Actions} actions
 * @param {() => Row[]} rows
 * @param {{hasDetails: boolean, offered?: () => string[]}} options the commands that stand elsewhere beside them
 */
export function commandButtons(actions, rows, { hasDetails, offered = () => [] }) {
  const commands = rowCommands(actions).filter(({ word }) => hasDetails || word !== "details");
  const main = commands.filter((command) => command.isMain || command.word === "details");
  const removing = commands.filter(({ word }) => word === "remove" || word === "removeFile");
  const others = commands.filter((command) => !main.includes(command) && !removing.includes(command));
  const remove = menuButton("removeMenu", "remove", words.toolbar.removeMenu, () => menuOf(removing, rows()));
  const more = menuButton("more", "more", words.toolbar.more, () => menuOf(others, rows()));
  const buttons = main.map((command) => ({ command, button: commandButton(command, rows) }));
  return {
    elements: [...buttons.map(({ button }) => button), remove, more],
    draw() {
      const chosen = rows();
      for (const { command, button } of buttons) {
        button.hidden = chosen.length === 0 || !command.fits(chosen) || offered().includes(command.word);
      }
      remove.hidden = more.hidden = chosen.length === 0;
    },
  };
}

/** @param {import("./view.js").View} view @param {import("./actions.js").Actions} actions */
export function showToolbar(view, actions) {
  const box = at("toolbar");
  const rows = () => view.chosenRows;
  /** @type {ReturnType<typeof commandButtons> | null} */
  let buttons = null;
  const count = make("span", { class: "chosen-count", role: "status" });
  const choosing = make("button", { type: "button", class: "action choosing", "aria-pressed": "false" });
  /** The browser's Back ends the selection. */
  let closed = () => {};
  const choose = (/** @type {boolean} */ isOn) => {
    document.body.classList.toggle("is-choosing", isOn);
    if (isOn) closed = pushLayer(() => choose(false));
    else closed();
    view.chooseNone();
    label(isOn);
  };
  choosing.addEventListener("click", () => choose(!document.body.classList.contains("is-choosing")));
  const label = (/** @type {boolean} */ isOn) => {
    const text = isOn ? words.done : words.toolbar.choosing;
    choosing.setAttribute("aria-pressed", String(isOn));
    choosing.setAttribute("aria-label", text);
    choosing.title = text;
    choosing.replaceChildren(icon(isOn ? "done" : "select"), make("span", {}, text));
  };
  const draw = () => {
    const isChoosing = document.body.classList.contains("is-choosing");
    const number = view.chosen.size;
    count.textContent = number > 1 || isChoosing ? words.chosen(number) : "";
    buttons?.draw();
  };
  const build = () => {
    buttons = commandButtons(actions, rows, { hasDetails: true });
    label(document.body.classList.contains("is-choosing"));
    box.replaceChildren(choosing, count, ...buttons.elements);
    draw();
  };
  view.addEventListener("change", draw);
  build();
  return build;
}
