// Dialogs: a common frame, and a prompt for a line of text.

import { make } from "./dom.js";
import { icon } from "./icons.js";
import { pushLayer } from "./layers.js";
import { words } from "./words.js";

/**
 * Opens a dialog, which is removed from the document when it is closed.
 * @param {{title: string, class?: string, content: (Node | false | null)[], buttons?: Node[], onsubmit?: (event: SubmitEvent) => void}} parts
 * @returns {HTMLDialogElement}
 */
export function openDialog({ title, class: name = "", content, buttons = [], onsubmit }) {
  const heading = make("h2", { id: "dialog-title" }, title);
  const close = make(
    "button",
    { type: "button", class: "quiet", "aria-label": words.close, onclick: () => dialog.close() },
    icon("close"),
  );
  const form = make(
    "form",
    { method: "dialog", novalidate: true, onsubmit },
    make("div", { class: "dialog-head" }, heading, close),
    make("div", { class: "dialog-body" }, content),
    buttons.length > 0 && make("div", { class: "dialog-foot" }, buttons),
  );
  const dialog = make("dialog", { class: `dialog ${name}`, "aria-labelledby": "dialog-title" }, form);
  const before = document.activeElement;
  const closed = pushLayer(() => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    closed();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  });
  // A click outside closes it.
  dialog.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.target === dialog) dialog.close();
  });
  form.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !onsubmit) return;
    event.preventDefault();
    form.requestSubmit();
  });
  document.body.append(dialog);
  // Without a field, it needs the focus so that keys can scroll it.
  const body = dialog.querySelector(".dialog-body");
  if (!body.querySelector("button, input, select, textarea, a")) {
    for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-labelledby", "dialog-title"]]) body.setAttribute(name, value);
  }
  dialog.showModal();
  document.dispatchEvent(new Event("dialog-opened"));
  return dialog;
}

/**
 * A field with its label.
 * @param {string} label
 * @param {HTMLElement} input
 * @param {string} [hint]
 */
export function field(label, input, hint) {
  const notes = hint ? make("span", { class: "hint", id: `${input.id}-hint` }, hint) : null;
  const problem = make("p", { class: "problem", id: `${input.id}-problem`, role: "alert" });
  input.setAttribute("aria-describedby", [notes?.id, problem.id].filter(Boolean).join(" "));
  return make("div", { class: "field" }, make("label", { for: input.id }, label), input, problem, notes);
}

/** Shows what is wrong with a field below it; "" for nothing. @param {HTMLElement} input @param {string} text */
export function setProblem(input, text) {
  const problem = document.getElementById(`${input.id}-problem`);
  if (problem) problem.textContent = text;
  if (text === "") input.removeAttribute("aria-invalid");
  else input.setAttribute("aria-invalid", "true");
}

/** The name of the option that a failure is about. @param {import("./queue.js").Failure} failure */
export const optionOf = ({ option, place = "" }) => option ?? (place.startsWith("the folder ") ? "folder" : "");

/** What is wrong with the value of a field, in the page's language; "" for nothing. @param {HTMLInputElement} input */
export function problemOf(input) {
  const { validity, type, min, max } = input;
  if (input.disabled || validity.valid) return "";
  if (validity.valueMissing && !validity.badInput) return words.valueMissing;
  if (type === "url") return words.notAnAddress(input.value.trim());
  return words.badNumber(min, max);
}

/**
 * Shows every problem below its field and focuses the first.
 * @param {[any, string][]} problems the fields with their problems, "" for none
 * @returns {boolean} whether there is none
 */
export function showProblems(problems) {
  for (const [input, text] of problems) setProblem(input, text);
  const [first] = problems.find(([, text]) => text !== "") ?? [];
  if (!first) return true;
  const more = first.closest("details");
  if (more) more.open = true;
  first.focus();
  return false;
}

/**
 * Asks yes or no.
 * @param {{title: string, text: string, button: string}} question
 * @returns {Promise<boolean>}
 */
export function confirm({ title, text, button }) {
  return new Promise((resolve) => {
    let isSure = false;
    const dialog = openDialog({
      title,
      class: "is-small question",
      content: [make("p", {}, text)],
      buttons: [
        make("button", { type: "button", onclick: () => dialog.close() }, words.cancel),
        make("button", { type: "submit", class: "primary is-dangerous" }, button),
      ],
      onsubmit: () => (isSure = true),
    });
    dialog.addEventListener("close", () => resolve(isSure));
    // Key repeat must not trigger the removal.
    /** @type {HTMLElement | null} */ (dialog.querySelector(".dialog-foot button"))?.focus();
  });
}

/**
 * Prompts for a line of text; null if cancelled or unchanged. `submit` returns what is wrong with it: then the dialog stays open.
 * @param {{title: string, label: string, value: string, hint?: string, type?: string, selectsStem?: boolean,
 *   submit: (text: string) => Promise<string>}} question
 * @returns {Promise<string | null>}
 */
export function ask({ title, label, value, hint, type = "text", selectsStem = false, submit }) {
  return new Promise((resolve) => {
    const input = make("input", { id: "input", type, value, required: true, autocomplete: "off", spellcheck: "false" });
    /** @type {string | null} */
    let result = null;
    const dialog = openDialog({
      title,
      class: "is-small",
      content: [field(label, input, hint)],
      buttons: [
        make("button", { type: "button", onclick: () => dialog.close() }, words.cancel),
        make("button", { type: "submit", class: "primary" }, words.ok),
      ],
      onsubmit: async (event) => {
        event.preventDefault();
        const text = input.value.trim();
        if (!showProblems([[input, problemOf(input)]])) return;
        if (text !== value) {
          if (!showProblems([[input, await submit(text)]])) return;
          result = text;
        }
        dialog.close();
      },
    });
    dialog.addEventListener("close", () => resolve(result));
    input.focus();
    const stem = value.lastIndexOf(".");
    if (selectsStem && stem > 0) input.setSelectionRange(0, stem);
    else input.select();
  });
}
