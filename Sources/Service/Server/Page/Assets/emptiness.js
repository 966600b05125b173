// What is shown in place of an empty list: how to add downloads, or how to see others.

import { at, make } from "./dom.js";
import { icon } from "./icons.js";
import { words } from "./words.js";

/** @param {import("./main.js").Program} program */
export function showEmptiness(program) {
  const { view } = program;
  const box = at("empty");
  let shown = "";
  const draw = () => {
    const isEmpty = view.queue.isReady && view.rows.length === 0;
    const isAll = view.queue.rows.size === 0;
    box.hidden = !isEmpty;
    // There is nothing to search, to sort or to select.
    document.body.classList.toggle("is-empty", isEmpty && isAll);
    const state = isEmpty ? words.emptyTitle + isAll : "";
    if (state === shown) return;
    shown = state;
    box.replaceChildren(
      make("img", { src: "icon.svg", alt: "", width: 72, height: 72 }),
      make("h2", {}, isAll ? words.emptyTitle : words.noneTitle),
      ...(isAll ? ways(program) : [make("p", {}, words.noneText), make("button", { type: "button", onclick: () => program.showOnly() }, words.showAll)]),
    );
  };
  view.addEventListener("change", draw);
  return draw;
}

/** The ways to add downloads. @param {import("./main.js").Program} program */
function ways(program) {
  const isTouched = matchMedia("(hover: none)").matches;
  const way = (/** @type {string} */ title, /** @type {(Node | string)[]} */ content, className = "") =>
    make("section", { class: `way ${className}` }, make("h3", {}, title), content);
  return [
    make(
      "div",
      { class: "ways" },
      way(words.emptyHere, [
        make("p", {}, isTouched ? words.emptyTextTouch : words.emptyText),
        make("button", { type: "button", class: "primary", onclick: () => program.openAdding([]) }, icon("add"), words.addDownloads),
      ]),
      way(words.emptyTerminal, [make("p", {}, words.emptyTerminalText), make("code", {}, "pawl add URL")], "for-desktops"),
      way(words.emptyBrowser, [
        make("p", {}, words.emptyBrowserText),
        make("button", { type: "button", onclick: () => program.openConnect() }, words.connectMore),
      ]),
    ),
  ];
}
