// A menu of commands: at the pointer, or below a button.

import { at, make } from "./dom.js";
import { icon } from "./icons.js";
import { pushLayer } from "./layers.js";

/**
 * @typedef {object} Command
 * @property {string} name
 * @property {string} text
 * @property {import("./icons.js").Icon} icon
 * @property {string} [key] its shortcut, as shown
 * @property {boolean} [isDangerous]
 * @property {boolean} [isChecked] of a choice that can be on or off
 * @property {boolean} [begins] a line above it
 * @property {() => void} run
 */

/** @type {(() => void) | null} */
let closeOpen = null;

/**
 * @param {Command[]} commands
 * @param {{label: string, x?: number, y?: number, anchor?: Element}} place
 */
export function openPopup(commands, { label, x = 0, y = 0, anchor }) {
  closeOpen?.();
  const before = document.activeElement;
  const menu = make("div", { class: "popup", role: "menu", "aria-label": label, tabindex: -1 }, commands.map(item));
  const close = (isBack = true) => {
    if (closeOpen !== close_) return;
    closeOpen = null;
    menu.remove();
    removeEventListener("pointerdown", outside, true);
    removeEventListener("resize", close_);
    removeEventListener("blur", close_);
    anchor?.setAttribute("aria-expanded", "false");
    closed();
    if (isBack && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  };
  const close_ = () => close();
  const outside = (/** @type {Event} */ event) => {
    if (!(event.target instanceof Node) || !menu.contains(event.target)) close(false);
  };
  closeOpen = close_;
  menu.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const index = [...menu.children].indexOf(/** @type {Element} */ (event.target)?.closest?.("[role^=menuitem]") ?? menu);
    const chosen = index >= 0 && commands[index];
    if (!chosen) return;
    close();
    chosen.run();
  });
  menu.addEventListener("contextmenu", (/** @type {Event} */ event) => event.preventDefault());
  menu.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => walk(event, menu, close_));
  // A modal dialog makes everything outside of it inert; everything else is in a landmark.
  (anchor?.closest("dialog, aside") ?? at("main")).append(menu);
  const closed = pushLayer(close_);
  anchor?.setAttribute("aria-expanded", "true");
  put(menu, x, y, anchor);
  addEventListener("pointerdown", outside, true);
  addEventListener("resize", close_);
  addEventListener("blur", close_);
  menu.querySelector("[role^=menuitem]")?.focus();
}

/** @param {Command} command */
function item({ name, text, icon: picture, key, isDangerous, isChecked, begins }) {
  return make(
    "button",
    {
      type: "button", role: isChecked === undefined ? "menuitem" : "menuitemcheckbox", tabindex: -1, "data-command": name,
      class: ["popup-item", isDangerous && "is-dangerous", begins && "begins"].filter(Boolean).join(" "),
      "aria-checked": isChecked === undefined ? null : String(isChecked),
    },
    icon(picture),
    make("span", { class: "popup-text" }, text),
    key && make("kbd", { "aria-hidden": "true" }, key),
  );
}

/** Within the window. @param {HTMLElement} menu @param {number} x @param {number} y @param {Element} [anchor] */
function put(menu, x, y, anchor) {
  const { offsetWidth: width, offsetHeight: height } = menu;
  if (anchor) {
    const box = anchor.getBoundingClientRect();
    [x, y] = [box.left, box.bottom + 4];
    if (y + height > innerHeight - 8) y = box.top - height - 4;
  }
  menu.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(y, innerHeight - height - 8))}px`;
}

/** @param {KeyboardEvent} event @param {HTMLElement} menu @param {() => void} close */
function walk(event, menu, close) {
  const items = /** @type {HTMLElement[]} */ ([...menu.children]);
  const index = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const go = (/** @type {number} */ next) => items.at(next % items.length)?.focus();
  switch (event.key) {
    case "ArrowDown": go(index + 1); break;
    case "ArrowUp": go(index < 0 ? -1 : index - 1); break;
    case "Home": go(0); break;
    case "End": go(-1); break;
    case "Escape": case "Tab": close(); break;
    case "Enter": case " ": items[index]?.click(); break;
    default: return;
  }
  event.preventDefault();
  event.stopPropagation();
}
