// Mouse and touch: selecting rows, their buttons, and dragging.

import { menuOf, rowCommands } from "./commands.js";
import { at } from "./dom.js";
import { openPopup } from "./popup.js";
import { isCollection } from "./queue.js";
import { words } from "./words.js";

/**
 * @param {import("./list.js").List} list
 * @param {import("./view.js").View} view
 * @param {import("./actions.js").Actions} actions
 * @param {{open: () => void, follow: () => void}} detail
 */
export function listenForPointing(list, view, actions, detail) {
  const grid = at("grid");
  /** The download where a press began: the order may change before it ends. @type {string | null} */
  let pressed = null;
  const isFolded = (/** @type {string} */ id) => actions.rowsOf([id]).some(isCollection);
  grid.addEventListener("pointerdown", (event) => (pressed = list.idAt(event.target)));
  grid.addEventListener("click", (event) => {
    const shown = list.idAt(event.target);
    // A key has no pointer.
    const id = event.detail > 0 ? pressed : shown;
    if (shown === null || id === null) return;
    if (event.target instanceof Element && event.target.closest(".toggle")) {
      actions.toggle([id]);
      return;
    }
    if (event.target instanceof Element && event.target.closest(".info")) {
      view.choose(id);
      if (isFolded(id)) return view.toggleOpened(id);
      detail.open();
      return;
    }
    const remedy = event.target instanceof Element && event.target.closest(".remedy")?.getAttribute("data-action");
    if (remedy) {
      if (id !== shown) return;
      view.choose(id);
      rowCommands(actions).find(({ word }) => word === remedy)?.run([id], view.chosenRows);
      return;
    }
    if (event.shiftKey) view.extend(id);
    else if (event.ctrlKey || event.metaKey || document.body.classList.contains("is-choosing")) view.flip(id);
    else {
      view.choose(id);
      // Touch has no second button: a tap opens the details.
      if (matchMedia("(hover: none), (max-width: 700px)").matches) {
        if (isFolded(id)) view.toggleOpened(id);
        else detail.open();
        return;
      }
      detail.follow();
    }
    list.focus();
  });
  grid.addEventListener("dblclick", (event) => {
    const isOnButton = event.target instanceof Element && event.target.closest("button");
    const id = list.idAt(event.target);
    if (id === null || isOnButton) return;
    if (isFolded(id)) view.toggleOpened(id);
    else detail.open();
  });
  grid.addEventListener("contextmenu", (event) => {
    if (event.target instanceof Element && event.target.closest(".heads")) return;
    const id = list.idAt(event.target) ?? (event.button === 2 ? null : view.current);
    if (id === null) return;
    event.preventDefault();
    if (!view.chosen.has(id)) view.choose(id);
    const box = document.getElementById(`row-${id}`)?.getBoundingClientRect();
    // A key has no place of its own.
    const isKey = event.clientX === 0 && event.clientY === 0 || list.idAt(event.target) === null;
    const [x, y] = isKey && box ? [box.left + 60, box.bottom] : [event.clientX, event.clientY];
    openPopup(menuOf(rowCommands(actions), view.chosenRows), { label: words.actions, x, y });
  });
  listenForDragging(grid, list, view, actions);
}

/**
 * @param {HTMLElement} grid
 * @param {import("./list.js").List} list
 * @param {import("./view.js").View} view
 * @param {import("./actions.js").Actions} actions
 */
function listenForDragging(grid, list, view, actions) {
  /** @type {Element | null} */
  let mark = null;
  const unmark = () => {
    mark?.classList.remove("drops-before", "drops-after");
    mark = null;
  };
  grid.addEventListener("dragstart", (event) => {
    const id = list.idAt(event.target);
    if (id === null || !event.dataTransfer) return;
    if (!actions.canMove) {
      event.preventDefault();
      return;
    }
    if (!view.chosen.has(id)) view.choose(id);
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("application/x-pawl", id);
  });
  grid.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("application/x-pawl")) return;
    const element = event.target instanceof Element ? event.target.closest(".row") : null;
    unmark();
    if (!element) return;
    event.preventDefault();
    mark = element;
    mark.classList.add(isLowerHalf(event, element) ? "drops-after" : "drops-before");
  });
  grid.addEventListener("dragend", unmark);
  grid.addEventListener("drop", (event) => {
    const element = mark;
    const id = list.idAt(event.target);
    unmark();
    if (!element || id === null || !event.dataTransfer?.types.includes("application/x-pawl")) return;
    event.preventDefault();
    event.stopPropagation();
    actions.moveBeside(id, isLowerHalf(event, element));
  });
}

/** @param {DragEvent} event @param {Element} element */
function isLowerHalf(event, element) {
  const box = element.getBoundingClientRect();
  return event.clientY > box.top + box.height / 2;
}
