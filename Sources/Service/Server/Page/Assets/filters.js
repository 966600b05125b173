// States and groups, with the number of their downloads.

import { arrange, at, make, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";
import { icon } from "./icons.js";
import { words } from "./words.js";

const parts = /** @type {const} */ (["all", "running", "waiting", "paused", "finished", "failed"]);

/** @param {import("./view.js").View} view */
export function showFilters(view) {
  const box = at("filters");
  const title = make("h2", { class: "filters-title" });
  /** @type {Map<string, ReturnType<typeof button>>} */
  let buttons = new Map();
  let shown = "";
  let pressed = "";
  const draw = () => {
    const counts = view.queue.counts();
    const groups = view.queue.groups();
    const paused = view.queue.status.pausedGroups ?? [];
    const { isReady } = view.queue;
    const state = JSON.stringify([isReady, counts, [...groups], paused, view.part, view.group, words.groups]);
    if (state === shown) return;
    shown = state;
    const filters = [
      ...parts.map((part) => ({ filter: /** @type {string} */ (part), part, group: /** @type {string | null} */ (null), text: words.parts[part], count: isReady ? counts[part] : null })),
      ...[...groups].map(([group, count]) => ({ filter: `group-${group}`, part: /** @type {typeof parts[number]} */ ("all"), group, text: group, count })),
    ];
    buttons = new Map(
      filters.map(({ filter, part, group, text, count }) => {
        const one = buttons.get(filter) ?? button(filter, () => view.show({ part, group }));
        one.show(text, count, group === null ? view.part === part && view.group === null : view.group === group, group !== null && paused.includes(group));
        return [filter, one];
      }),
    );
    title.textContent = words.groups;
    const elements = [...buttons.values()].map(({ element }) => element);
    if (groups.size > 0) elements.splice(parts.length, 0, title);
    arrange(box, elements);
    // In a narrow window they are a strip that scrolls.
    const now = `${view.part} ${view.group}`;
    if (now !== pressed) box.querySelector("[aria-pressed=true]")?.scrollIntoView({ inline: "center", block: "nearest" });
    pressed = now;
  };
  view.addEventListener("change", draw);
  return draw;
}

/** @param {string} filter @param {() => void} onclick */
function button(filter, onclick) {
  const [name, held, counted] = [make("span", { class: "filter-name" }), make("span", { class: "unseen" }), make("span", { class: "filter-count" })];
  const picture = icon("pause");
  const element = make("button", { type: "button", class: "filter", "data-filter": filter, onclick }, name, counted);
  return {
    element,
    /** @param {string} text @param {number | null} count null while it is unknown @param {boolean} isOn @param {boolean} isPaused */
    show(text, count, isOn, isPaused) {
      setAttribute(element, "aria-pressed", String(isOn));
      setText(name, text);
      setText(counted, count === null ? "" : format.count(count));
      setText(held, words.states.held);
      arrange(element, isPaused ? [name, picture, held, counted] : [name, counted]);
    },
  };
}
