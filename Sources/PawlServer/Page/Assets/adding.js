// The dialog for adding downloads.

import { expand, intake } from "./addresses.js";
import { field, openDialog, setProblem, showProblems } from "./asking.js";
import { make } from "./dom.js";
import { OptionForm } from "./form.js";
import * as format from "./format.js";
import { nameOf } from "./queue.js";
import { textOf, words } from "./words.js";

/** @typedef {import("./actions.js").Actions} Actions */

/** What was entered when the dialog was closed without adding. @type {{urls: string, start: string, options: Record<string, string>} | null} */
let draft = null;

/**
 * @param {Actions} actions
 * @param {string[]} addresses
 */
export function openAdding(actions, addresses = []) {
  const open = document.querySelector("#add-urls");
  if (open) return append(/** @type {HTMLTextAreaElement} */ (open), addresses);
  // Closes other dialogs.
  document.querySelector("dialog")?.close();
  const form = new OptionForm(actions.queue);
  const urls = make("textarea", {
    id: "add-urls", rows: 4, spellcheck: "false", autocomplete: "off", placeholder: "https://…",
  });
  const start = startChoice(draft?.start ?? "enqueued");
  const count = make("p", { class: "hint", role: "status" });
  const preview = make("ul", { class: "plain-list checks" });
  const check = make("button", { type: "button", class: "small" }, words.check);
  const add = make("button", { type: "submit", class: "primary" }, words.add);
  let isAdded = false;
  const dialog = openDialog({
    title: words.addDownloads,
    class: "adding",
    content: [
      field(words.urls, urls, words.urlsHint),
      make("div", { class: "count-line" }, count, check),
      preview,
      start,
      ...form.layout(),
    ],
    buttons: [make("button", { type: "button", onclick: () => dialog.close() }, words.cancel), add],
    onsubmit: async (event) => {
      event.preventDefault();
      const items = read(urls, start, form);
      if (!items) return;
      add.disabled = true;
      const known = new Set(actions.queue.rows.keys());
      const results = await actions.call("pawl.add", items);
      add.disabled = false;
      if (!results) return;
      isAdded = showResult(actions, dialog, { urls, form }, items, results, known);
    },
  });
  check.addEventListener("click", () => checkAll(actions, urls, form, check, preview));
  urls.addEventListener("input", () => {
    preview.replaceChildren();
    showCount(urls, form, count, check);
  });
  dialog.addEventListener("close", () => {
    const isEmpty = urls.value.trim() === "";
    draft = isAdded || isEmpty ? null : { urls: urls.value, start: chosenStart(start), options: form.draft };
  });
  if (draft) form.fill(draft.options);
  urls.value = [draft?.urls.trimEnd(), ...addresses].filter(Boolean).join("\n");
  showCount(urls, form, count, check);
  urls.focus();
}

/** @param {string} chosen */
function startChoice(chosen) {
  return make(
    "fieldset",
    { class: "choices" },
    make("legend", {}, words.start),
    [["enqueued", words.inTurn], ["now", words.atOnce], ["paused", words.asPaused]].map(([value, text]) =>
      make("label", {}, make("input", { type: "radio", name: "start", value, checked: value === chosen }), text),
    ),
  );
}

/** @param {HTMLElement} start */
const chosenStart = (start) => /** @type {HTMLInputElement} */ (start.querySelector("input:checked")).value;

/** Appends URLs to the open dialog. @param {HTMLTextAreaElement} urls @param {string[]} addresses */
function append(urls, addresses) {
  urls.value = [urls.value.trimEnd(), ...addresses].filter(Boolean).join("\n");
  urls.dispatchEvent(new Event("input"));
  urls.focus();
}

/** The URLs of the field with patterns expanded, or what is wrong. @param {string} text @returns {{urls: string[], problem: string, isPattern: boolean}} */
function expanded(text) {
  const found = intake(text);
  const all = found.urls.map(expand);
  const urls = [...new Set(all.flatMap((some) => some ?? []))];
  const problem =
    found.refused.length > 0 ? words.unsupportedScheme(found.refused.join(", "))
    : all.includes(null) ? words.tooManyExpanded
    : found.unknown.length > 0 ? words.notAnAddress(found.unknown[0])
    : urls.length === 0 && text.trim() ? words.noURL : "";
  return { urls, problem, isPattern: urls.length > found.urls.length };
}

/**
 * @param {HTMLTextAreaElement} field
 * @param {OptionForm} form
 * @param {HTMLElement} count
 * @param {HTMLButtonElement} check
 */
function showCount(field, form, count, check) {
  const { urls, problem, isPattern } = expanded(field.value);
  const parts = [urls.length > 0 && words.urlCount(urls.length), isPattern && words.fromTo(urls[0], urls[urls.length - 1])];
  count.textContent = parts.filter(Boolean).join(" · ");
  check.disabled = urls.length === 0;
  setProblem(field, problem);
  form.allowOne(urls.length <= 1);
}

/** @param {HTMLTextAreaElement} field @param {HTMLElement} start @param {OptionForm} form */
function read(field, start, form) {
  const { urls, problem } = expanded(field.value);
  const options = form.read();
  if (!showProblems([[field, problem || (urls.length === 0 ? words.noURL : "")]])) return undefined;
  return options && urls.map((url) => ({ ...options, url, start: chosenStart(start) }));
}

const mostChecked = 8;

/**
 * Shows name, size and ranges of the first URLs.
 * @param {Actions} actions
 * @param {HTMLTextAreaElement} field
 * @param {OptionForm} form
 * @param {HTMLButtonElement} button
 * @param {HTMLElement} box
 */
async function checkAll(actions, field, form, button, box) {
  const { urls } = expanded(field.value);
  const item = form.read();
  // Not disabled, which would take the focus from it.
  if (!item || button.ariaBusy === "true") return;
  button.ariaBusy = "true";
  const lines = urls.slice(0, mostChecked).map((url) => ({ url, line: make("li", {}, words.checking(url)) }));
  box.replaceChildren(...lines.map(({ line }) => line));
  for (const { url, line } of lines) {
    try {
      const { name, total, ranges, error } = await actions.connection.call("pawl.check", { url, options: item.options });
      if (error) {
        line.className = "problem";
        line.textContent = `${nameOf(/** @type {any} */ ({ url }))} · ${words.reason(error)}`;
        continue;
      }
      const facts = [
        total === null ? words.sizeUnknown : format.size(total),
        ranges === null ? words.rangesUnknown : ranges ? words.rangesServed : words.rangesRefused,
      ];
      line.replaceChildren(make("strong", {}, name ?? nameOf(/** @type {any} */ ({ url }))), ` · ${facts.join(" · ")}`);
    } catch (error) {
      line.className = "problem";
      line.textContent = textOf(error);
    }
  }
  if (urls.length > mostChecked) box.append(make("li", { class: "hint" }, words.othersNotChecked(urls.length - mostChecked)));
  button.ariaBusy = "false";
}

/**
 * Keeps refused URLs in the dialog, with the reason; whether all were taken.
 * @param {Actions} actions
 * @param {HTMLDialogElement} dialog
 * @param {{urls: HTMLTextAreaElement, form: OptionForm}} fields
 * @param {{url: string}[]} items
 * @param {{id?: string, finished?: boolean, error?: import("./queue.js").Failure}[]} results
 * @param {Set<string>} known the downloads before
 */
function showResult(actions, dialog, { urls, form }, items, results, known) {
  const ids = results.flatMap(({ id }) => id ?? []);
  const added = ids.filter((id) => !known.has(id));
  const duplicates = ids.filter((id) => known.has(id));
  if (added.length > 0) actions.toasts.show(words.added(added.length));
  if (duplicates.length > 0) actions.tellDuplicates(duplicates, results.some(({ finished }) => finished));
  const refused = items.filter((_, index) => results[index].error);
  if (refused.length === 0) {
    dialog.close();
    const last = ids.at(-1);
    if (last) actions.view.choose(last);
    return true;
  }
  urls.value = refused.map(({ url }) => url).join("\n");
  urls.dispatchEvent(new Event("input"));
  const error = results.find((result) => result.error)?.error;
  if (error && !form.showProblem(error)) {
    setProblem(urls, words.failure(error));
    urls.focus();
  }
  return false;
}
