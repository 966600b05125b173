// Dialogs: a common frame, and a prompt for a line of text.

import { make } from "./dom.js";
import { icon } from "./icons.js";
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
    make("header", { class: "dialog-head" }, heading, close),
    make("div", { class: "dialog-body" }, content),
    buttons.length > 0 && make("footer", { class: "dialog-foot" }, buttons),
  );
  const dialog = make("dialog", { class: `dialog ${name}`, "aria-labelledby": "dialog-title" }, form);
  const before = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  });
  // A click outside closes it.
  dialog.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.target === dialog) dialog.close();
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
  if (notes) input.setAttribute("aria-describedby", notes.id);
  return make("div", { class: "field" }, make("label", { for: input.id }, label), input, notes);
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
