// Short notifications, some with an undo button.

import { at, make } from "./dom.js";
import { icon } from "./icons.js";
import { words } from "./words.js";

const usual = 5;

export class Toasts {
  #box = at("toasts");

  constructor() {
    // Those that are shown already.
    document.addEventListener("dialog-opened", () => this.#raise());
  }

  /**
   * @param {string} text
   * @param {{seconds?: number, isError?: boolean, action?: {text: string, run: () => void}, onclose?: () => void}} [options]
   */
  show(text, { seconds = usual, isError = false, action, onclose } = {}) {
    let timer = 0;
    const close = () => {
      clearTimeout(timer);
      if (!toast.isConnected) return;
      toast.remove();
      onclose?.();
    };
    const toast = make(
      "div",
      { class: isError ? "toast is-error" : "toast", role: isError ? "alert" : null },
      make("span", { class: "toast-text" }, text),
      action && make("button", { type: "button", class: "toast-action", onclick: action.run }, action.text),
      make("button", { type: "button", class: "quiet", "aria-label": words.close, onclick: close }, icon("close")),
    );
    if (action) {
      const clock = make("i", { class: "toast-clock" });
      clock.style.animationDuration = `${seconds}s`;
      toast.append(clock);
    }
    this.#raise();
    // The same again replaces it.
    for (const other of [...this.#box.children]) {
      if (isError && other.querySelector(".toast-text")?.textContent === text && !other.querySelector(".toast-action")) other.remove();
    }
    this.#box.append(toast);
    timer = setTimeout(close, (isError ? 2 : 1) * seconds * 1000);
    return { close };
  }

  /** Into the dialog that is open: what is outside of it is dimmed, cannot be pressed and is not read aloud. */
  #raise() {
    const dialog = document.querySelector("dialog[open]");
    if (!dialog || dialog.contains(this.#box)) return;
    dialog.append(this.#box);
    dialog.addEventListener("close", () => document.body.append(this.#box), { once: true });
  }
}
