// The dialogs that change a download: all of its options, or its login.

import { field, openDialog, problemOf, setProblem, showProblems } from "./asking.js";
import { make } from "./dom.js";
import { OptionForm, timeField, timeOf } from "./form.js";
import { nameOf, partOf } from "./queue.js";
import { textOf, words } from "./words.js";

/** @typedef {import("./queue.js").Row} Row */
/** @typedef {import("./actions.js").Actions} Actions */

/** @param {Actions} actions @param {Row} row @param {"folder"} [part] the field that gets the focus */
export async function openEditing(actions, row, part) {
  const item = await actions.call("pawl.options", row.id);
  if (!item) return;
  const form = new OptionForm(actions.queue, { isKnown: true, hasPassword: item.hasPassword });
  const url = make("input", { id: "edit-url", type: "url", value: item.url, required: true, autocomplete: "off", spellcheck: "false" });
  const startAt = timeField("edit-start-at", row.startAt);
  const shownStart = startAt.value;
  const problem = make("p", { class: "problem", role: "alert" });
  const isFailed = partOf(row) === "failed";
  const dialog = openDialog({
    title: words.editDownload(nameOf(row)),
    class: "editing",
    content: [
      field(words.url, url, words.replaceURLHint),
      // Trying again ends a wait for a time.
      isFailed ? null : field(words.startAt, startAt, words.startAtHint),
      ...form.layout(true),
      problem,
    ],
    buttons: buttons(() => dialog.close(), isFailed ? words.saveAndRetry : words.save),
    onsubmit: async (event) => {
      event.preventDefault();
      const change = form.read();
      const isMoved = startAt.value !== shownStart;
      const start = timeOf(startAt);
      if (!showProblems([[url, problemOf(url)], [startAt, isMoved && start === undefined ? words.badTime : ""]]) || !change) return;
      const name = form.fields.name.value.trim();
      delete change.options.output;
      // A file that has begun keeps its folder.
      if (form.fields.folder.disabled) delete change.folder;
      if (url.value.trim() !== item.url) change.url = url.value.trim();
      if (isMoved && start) change.startAt = start;
      try {
        await actions.connection.call("pawl.set", row.id, change);
        // It stays paused, without a time.
        if (isMoved && start === null) await actions.connection.call("pawl.pause", row.id);
        if (name && name !== before) await actions.connection.call("pawl.rename", row.id, name);
      } catch (error) {
        return showFailure(/** @type {any} */ (error), form, url, problem);
      }
      dialog.close();
      if (isFailed) actions.resume([row.id]);
    },
  });
  form.fillFrom(item);
  const hasBegun = row.name !== undefined || partOf(row) === "running";
  form.fields.folder.disabled = hasBegun;
  if (hasBegun) form.fields.name.value = nameOf(row);
  const before = form.fields.name.value;
  // What failed is most likely to be edited.
  (part ? form.fields[part] : row.error?.code === 32 ? form.fields.checksum : url).focus();
}

/** @param {any} error @param {OptionForm} form @param {HTMLElement} url @param {HTMLElement} problem */
function showFailure(error, form, url, problem) {
  if (form.showProblem(error)) return;
  if (/\bURL\b|scheme|host/i.test(error.message)) setProblem(url, textOf(error));
  else problem.textContent = textOf(error);
}

/** Asks for user name and password, and tries again. @param {Actions} actions @param {Row} row */
export function openSignIn(actions, row) {
  const user = make("input", { id: "sign-user", required: true, autocomplete: "off", spellcheck: "false" });
  const password = make("input", { id: "sign-password", type: "password", autocomplete: "new-password" });
  const dialog = openDialog({
    title: words.signInTo(/^[a-z]+:\/\/(?:[^/@]*@)?([^/?#]+)/i.exec(row.url)?.[1] ?? row.url),
    class: "is-small",
    content: [make("p", { class: "hint" }, words.signInHint), field(words.user, user), field(words.password, password)],
    buttons: buttons(() => dialog.close(), words.saveAndRetry),
    onsubmit: async (event) => {
      event.preventDefault();
      if (!showProblems([[user, problemOf(user)]])) return;
      const options = { user: user.value, password: password.value || null };
      if ((await actions.call("pawl.set", row.id, { options })) === undefined) return;
      dialog.close();
      actions.resume([row.id]);
    },
  });
  user.focus();
}

/** @param {() => void} cancel @param {string} text */
function buttons(cancel, text) {
  return [
    make("button", { type: "button", onclick: cancel }, words.cancel),
    make("button", { type: "submit", class: "primary" }, text),
  ];
}
