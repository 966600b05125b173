// Settings stored in the browser: appearance and language.

import { openDialog } from "./asking.js";
import { make } from "./dom.js";
import { icon } from "./icons.js";
import { logOut } from "./login.js";
import { openHelp } from "./keyboard.js";
import { words } from "./words.js";

/** @param {string} name */
export const setting = (name) => localStorage.getItem(`pawl.${name}`);

/** @param {string} name @param {string | null} value */
function keep(name, value) {
  if (value === null) localStorage.removeItem(`pawl.${name}`);
  else localStorage.setItem(`pawl.${name}`, value);
}

export function useTheme() {
  const theme = setting("theme");
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

/** @param {import("./main.js").Program} program */
export function openMenu(program) {
  const dialog = openDialog({
    title: words.menu,
    class: "is-small menu",
    content: [
      choices(words.theme, "theme", words.themes, () => {
        useTheme();
        program.redraw();
      }),
      choices(words.language, "language", words.languageNames, () => {
        dialog.close();
        program.translate();
      }),
      make(
        "div",
        { class: "menu-links" },
        make("button", { type: "button", onclick: () => (dialog.close(), openHelp(program)) }, icon("keyboard"), words.help),
        make("button", { type: "button", onclick: () => (dialog.close(), program.openLimits()) }, icon("limits"), words.bounds),
        make("button", { type: "button", onclick: logOut }, icon("leave"), words.logOut),
      ),
      make("p", { class: "hint version" }, `Pawl ${program.queue.status.version ?? ""}`, make("br"), program.queue.status.root ?? ""),
    ],
  });
}

/** @param {string} title @param {string} name @param {Record<string, string>} names @param {() => void} onchange */
function choices(title, name, names, onchange) {
  const now = setting(name) ?? "auto";
  return make(
    "fieldset",
    { class: "choices" },
    make("legend", {}, title),
    Object.entries(names).map(([value, text]) => {
      const input = make("input", { type: "radio", name, value, checked: value === now });
      input.addEventListener("change", () => {
        keep(name, value === "auto" ? null : value);
        onchange();
      });
      return make("label", { lang: value === "zh" ? "zh-Hans" : null }, input, text);
    }),
  );
}
