// The button that pauses or resumes all downloads, or those of a group.

import { at, make, setAttribute } from "./dom.js";
import { icon } from "./icons.js";
import { words } from "./words.js";

/** @param {import("./view.js").View} view @param {import("./actions.js").Actions} actions */
export function showPauseAllButton(view, actions) {
  const button = at("whole");
  button.addEventListener("click", () => actions.toggleWhole());
  let shown = "";
  const draw = () => {
    const toggle = actions.wholeToggle;
    button.hidden = toggle === null;
    if (toggle === null) return;
    const text = words.whole[toggle](view.group);
    if (text === shown) return;
    shown = text;
    setAttribute(button, "aria-label", text);
    setAttribute(button, "title", text);
    button.dataset.toggle = toggle;
    button.replaceChildren(icon(toggle), make("span", {}, text));
  };
  view.addEventListener("change", draw);
  return draw;
}
