// The menu: appearance, language, notifications, and everything that concerns the whole queue.

import { openDialog } from "./asking.js";
import { make } from "./dom.js";
import { icon } from "./icons.js";
import { endonyms, tagOf } from "./languages.js";
import { logOut } from "./login.js";
import { canNotify, notifies, turnOff, turnOn } from "./notifications.js";
import { keep, setting, useDensity, useTheme } from "./preferences.js";
import { words } from "./words.js";

/** @param {import("./main.js").Program} program */
export function openMenu(program) {
  const { actions } = program;
  const { all, finished } = program.queue.counts();
  const link = (/** @type {import("./icons.js").Icon} */ picture, /** @type {string} */ text, /** @type {string} */ name, /** @type {() => void} */ run, disabled = false) =>
    make("button", { type: "button", "data-menu": name, disabled, onclick: () => (dialog.close(), run()) }, icon(picture), text);
  const file = make("input", { type: "file", accept: ".json,application/json", hidden: true, "aria-label": words.importQueue });
  file.addEventListener("change", () => {
    const [chosen] = file.files ?? [];
    dialog.close();
    if (chosen) actions.importQueue(chosen);
  });
  const dialog = openDialog({
    title: words.menu,
    class: "is-small menu",
    content: [
      make(
        "div",
        { class: "menu-links" },
        link("settings", words.serviceSettings, "settings", () => program.openSettings()),
        link("limits", words.bounds, "limits", () => program.openLimits()),
        link("clear", words.clearFinished, "clear", () => actions.clearFinished(), finished === 0),
        link("save", words.exportQueue, "export", () => actions.exportQueue(), all === finished),
        make("button", { type: "button", "data-menu": "import", onclick: () => file.click() }, icon("upload"), words.importQueue),
        file,
        link("link", words.connectMore, "connect", () => program.openConnect()),
        link("columns", words.chooseColumns, "columns", () => program.openColumns()),
        link("keyboard", words.help, "help", () => program.openHelp()),
      ),
      choices(words.density, "density", words.densities, "comfortable", () => {
        useDensity();
        program.list.draw();
      }),
      choices(words.theme, "theme", words.themes, "auto", () => {
        useTheme();
        program.redraw();
      }),
      choices(words.language, "language", words.languageNames, "auto", () => {
        dialog.close();
        program.changeLanguage();
      }),
      notificationChoice(),
      make("div", { class: "menu-links" }, make("button", { type: "button", onclick: logOut }, icon("leave"), words.logOut)),
      make("p", { class: "hint version" }, `Pawl ${program.queue.status.version ?? ""}`, make("br"), program.queue.status.root ?? ""),
    ],
  });
}

/** @param {string} title @param {string} name @param {Record<string, string>} names @param {string} usual @param {() => void} onchange */
function choices(title, name, names, usual, onchange) {
  const now = setting(name) ?? usual;
  return make(
    "fieldset",
    { class: "choices" },
    make("legend", {}, title),
    Object.entries(names).map(([value, text]) => {
      const input = make("input", { type: "radio", name, value, checked: value === now });
      input.addEventListener("change", () => {
        keep(name, value === usual ? null : value);
        onchange();
      });
      return make("label", { lang: value in endonyms ? tagOf(value) : null }, input, text);
    }),
  );
}

/** The browser asks for the permission when it is turned on. */
function notificationChoice() {
  const input = make("input", { type: "checkbox", id: "notify", checked: notifies(), disabled: !canNotify() });
  const hint = make("p", { class: "hint", role: "status" }, canNotify() ? "" : words.notifyNeedsSecure);
  input.addEventListener("change", async () => {
    if (!input.checked) return turnOff();
    input.checked = await turnOn();
    hint.textContent = input.checked ? "" : words.notifyDenied;
  });
  return make("div", { class: "field" }, make("label", { class: "check", for: "notify" }, input, words.notify), hint);
}
