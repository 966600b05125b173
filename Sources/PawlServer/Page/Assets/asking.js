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
    { method: "dialog", onsubmit },
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
  dialog.showModal();
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

/**
 * Prompts for a line of text; null if cancelled.
 * @param {{title: string, label: string, value: string, hint?: string, type?: string, selectsStem?: boolean}} question
 * @returns {Promise<string | null>}
 */
export function ask({ title, label, value, hint, type = "text", selectsStem = false }) {
  return new Promise((resolve) => {
    const input = make("input", { id: "input", type, value, required: true, autocomplete: "off", spellcheck: "false" });
    let result = null;
    const dialog = openDialog({
      title,
      class: "is-small",
      content: [field(label, input, hint)],
      buttons: [
        make("button", { type: "button", onclick: () => dialog.close() }, words.cancel),
        make("button", { type: "submit", class: "primary" }, words.ok),
      ],
      onsubmit: () => (result = input.value.trim()),
    });
    dialog.addEventListener("close", () => resolve(result));
    input.focus();
    const stem = value.lastIndexOf(".");
    if (selectsStem && stem > 0) input.setSelectionRange(0, stem);
    else input.select();
  });
}
