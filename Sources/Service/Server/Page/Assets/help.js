// The help: the table of keyboard shortcuts.

import { openDialog } from "./asking.js";
import { make } from "./dom.js";
import { shortcutsOf } from "./keyboard.js";
import { words } from "./words.js";

/** @param {import("./main.js").Program} program */
export function openHelp(program) {
  const shortcuts = shortcutsOf(program).filter((shortcut) => shortcut.keys.length > 0);
  const parts = /** @type {const} */ (["list", "moving", "one", "page"]);
  openDialog({
    title: words.help,
    class: "help",
    content: parts.map((part) =>
      make(
        "section",
        {},
        make("h3", {}, words.keys[part]),
        make(
          "dl",
          {},
          shortcuts
            .filter((shortcut) => shortcut.part === part)
            .map(({ keys, text }) => make("div", {}, make("dt", {}, keys.map((key) => make("kbd", {}, key))), make("dd", {}, words.keys[text]))),
        ),
      ),
    ),
  });
}
