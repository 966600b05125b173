// States and groups, with the number of their downloads.

import { at, make } from "./dom.js";
import * as format from "./format.js";
import { icon } from "./icons.js";
import { words } from "./words.js";

const parts = /** @type {const} */ (["all", "running", "waiting", "paused", "finished", "failed"]);

/** @param {import("./view.js").View} view */
export function showFilters(view) {
  const box = at("filters");
  let shown = "";
  const draw = () => {
    const counts = view.queue.counts();
    const groups = view.queue.groups();
    // Recreated buttons lose the focus: only after a change.
    const paused = view.queue.status.pausedGroups ?? [];
    const { isReady } = view.queue;
    const state = JSON.stringify([isReady, counts, [...groups], paused, view.part, view.group, words.groups]);
    if (state === shown) return;
    shown = state;
    const focused = document.activeElement?.getAttribute("data-filter");
    box.replaceChildren(
      ...parts.map((part) =>
        button(part, words.parts[part], isReady ? counts[part] : null, view.part === part && view.group === null, () =>
          view.show({ part, group: null }),
        ),
      ),
    );
    if (groups.size > 0) box.append(make("h2", { class: "filters-title" }, words.groups));
    for (const [group, count] of groups) {
      box.append(
        button(`group-${group}`, group, count, view.group === group, () => view.show({ part: "all", group }), paused.includes(group)),
      );
    }
    if (focused) /** @type {HTMLElement | null} */ (box.querySelector(`[data-filter="${CSS.escape(focused)}"]`))?.focus();
  };
  view.addEventListener("change", draw);
  return draw;
}

/**
 * @param {string} filter
 * @param {string} text
 * @param {number | null} count null while it is unknown
 * @param {boolean} isOn
 * @param {() => void} onclick
 * @param {boolean} [isPaused]
 */
function button(filter, text, count, isOn, onclick, isPaused = false) {
  return make(
    "button",
    { type: "button", class: "filter", "data-filter": filter, "aria-pressed": String(isOn), onclick },
    make("span", { class: "filter-name" }, text),
    isPaused && [icon("pause"), make("span", { class: "unseen" }, words.states.held)],
    make("span", { class: "filter-count" }, count === null ? "" : format.count(count)),
  );
}
