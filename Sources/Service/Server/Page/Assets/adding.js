// The dialog for adding downloads.

import { expand, intake } from "./addresses.js";
import { field, openDialog, setProblem, showProblems } from "./asking.js";
import { make } from "./dom.js";
import { isMore, pasted } from "./dropAndPaste.js";
import { OptionForm, timeField, timeOf } from "./form.js";
import * as format from "./format.js";
import { nameOf } from "./queue.js";
import { textOf, words } from "./words.js";

/** @typedef {import("./actions.js").Actions} Actions */

/** @typedef {import("./dropAndPaste.js").Item} Item */

/** What was entered when the dialog was closed without adding, to be offered. @type {{urls: string, start: string, options: Record<string, string>, items: Item[]} | null} */
let draft = null;

/** Adds to the open dialog. @type {((addresses: string[], items: Item[], checks: boolean) => void) | null} */
let addToOpen = null;

/**
 * @param {Actions} actions
 * @param {string[]} addresses
 * @param {Item[]} items with mirrors, digests or header fields
 * @param {boolean} checks whether a single URL is checked at once: not what a link of a page handed over
 */
export function openAdding(actions, addresses = [], items = [], checks = false) {
  if (addToOpen) return addToOpen(addresses, items, checks);
  // Closes other dialogs.
  document.querySelector("dialog")?.close();
  const form = new OptionForm(actions.queue);
  const urls = make("textarea", {
    id: "add-urls", rows: 3, spellcheck: "false", autocomplete: "off", placeholder: "https://…",
  });
  const start = startChoice("enqueued");
  /** What was dropped or pasted with more than a URL, by URL. @type {Map<string, Item>} */
  const known = new Map();
  /** What the form had before a single download filled it, and then. @type {{before: Record<string, string>, after: Record<string, string>} | null} */
  let single = null;
  const count = make("p", { class: "hint", role: "status" });
  const preview = make("ul", { class: "plain-list checks" });
  const check = make("button", { type: "button", class: "small" }, words.check);
  const add = make("button", { type: "submit", class: "primary" }, words.add);
  let isAdded = false;
  const [folder, ...others] = form.layout();
  const dialog = openDialog({
    title: words.addDownloads,
    class: "adding",
    content: [
      field(words.urls, urls, words.urlsHint),
      make("div", { class: "count-line" }, count, check),
      preview,
      folder,
      start,
      ...others,
    ],
    buttons: [make("button", { type: "button", onclick: () => dialog.close() }, words.cancel), add],
    onsubmit: async (event) => {
      event.preventDefault();
      const items = read(urls, start, form, known);
      if (!items) return;
      add.disabled = true;
      const before = new Set(actions.queue.rows.keys());
      const results = await actions.call("pawl.add", items);
      add.disabled = false;
      if (!results) return;
      isAdded = showResult(actions, dialog, { urls, form }, items, results, before);
    },
  });
  check.addEventListener("click", () => checkAll(actions, urls, form, check, preview));
  urls.addEventListener("input", () => {
    preview.replaceChildren();
    if (single && expanded(urls.value).urls.length > 1) {
      // Header fields, a login and a folder of one are not those of all; what was edited since stays.
      const { before, after } = single;
      form.fill(Object.fromEntries(Object.entries(form.draft).filter(([name, value]) => value === after[name]).map(([name]) => [name, before[name]])));
      single = null;
    }
    showCount(urls, form, count, check);
  });
  const checkSingle = () => {
    if (expanded(urls.value).urls.length === 1 && form.isValid) check.click();
  };
  urls.addEventListener("paste", async (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    // Behind the browser's own insertion.
    if (!isMore(text)) return setTimeout(checkSingle);
    event.preventDefault();
    const found = await pasted(actions.connection, text);
    for (const problem of found.problems) setProblem(urls, textOf(problem));
    if (found.items.length > 0) put(found.urls, found.items, true);
    else if (found.problems.length === 0) {
      // As the browser would have done.
      urls.setRangeText(text, urls.selectionStart, urls.selectionEnd, "end");
      urls.dispatchEvent(new Event("input"));
    }
  });
  const put = (/** @type {string[]} */ more, /** @type {Item[]} */ moreItems, /** @type {boolean} */ checks) => {
    for (const item of moreItems) known.set(item.url, item);
    const isOnly = urls.value.trim() === "" && more.length === 0 && moreItems.length === 1;
    urls.value = [urls.value.trimEnd(), ...more, ...moreItems.map(({ url }) => url)].filter(Boolean).join("\n");
    if (isOnly) {
      const before = form.draft;
      form.fillFrom({ group: null, priority: 0, ...moreItems[0], folder: moreItems[0].folder ?? "" });
      single = { before, after: form.draft };
    }
    urls.dispatchEvent(new Event("input"));
    urls.focus();
    if (checks) checkSingle();
  };
  addToOpen = put;
  const offer = offered((kept) => {
    const typed = urls.value;
    urls.value = "";
    form.fill(kept.options);
    for (const item of kept.items) known.set(item.url, item);
    urls.value = [kept.urls.trimEnd(), typed].filter(Boolean).join("\n");
    const choice = /** @type {HTMLInputElement} */ (start.querySelector(`input[value=${kept.start}]`));
    choice.checked = true;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
    urls.dispatchEvent(new Event("input"));
    urls.focus();
  });
  if (offer) urls.closest(".field")?.after(offer);
  dialog.addEventListener("close", () => {
    addToOpen = null;
    const isEmpty = urls.value.trim() === "";
    if (isAdded) draft = null;
    else if (!isEmpty) draft = { urls: urls.value, start: chosenStart(start), options: form.draft, items: [...known.values()] };
  });
  put(addresses, items, checks);
}

/** A button that restores what was entered before; null if there is nothing. @param {(kept: NonNullable<typeof draft>) => void} restore */
function offered(restore) {
  if (!draft) return null;
  const kept = draft;
  const button = make("button", { type: "button", class: "small draft", onclick: () => (button.remove(), restore(kept)) }, words.restoreDraft);
  return button;
}

/** @param {string} chosen @param {boolean} mayWait whether a time can be given */
export function startChoice(chosen, mayWait = true) {
  const time = timeField("add-start-at");
  const field = make("div", { class: "field start-time", hidden: chosen !== "later" }, time, make("p", { class: "problem", id: "add-start-at-problem", role: "alert" }));
  time.setAttribute("aria-label", words.startAt);
  time.setAttribute("aria-describedby", "add-start-at-problem");
  return make(
    "fieldset",
    {
      class: "choices",
      onchange: (/** @type {Event} */ event) => {
        field.hidden = chosenStart(/** @type {HTMLElement} */ (event.currentTarget)) !== "later";
        if (!field.hidden && event.target !== time) time.focus();
      },
    },
    make("legend", {}, words.start),
    [["enqueued", words.inTurn], ["now", words.atOnce], ["paused", words.asPaused], ...(mayWait ? [["later", words.later]] : [])].map(([value, text]) =>
      make("label", {}, make("input", { type: "radio", name: "start", value, checked: value === chosen }), text),
    ),
    field,
  );
}

/** @param {HTMLElement} start */
export const chosenStart = (start) => /** @type {HTMLInputElement} */ (start.querySelector("input[type=radio]:checked")).value;

/** What pawl.add takes for the choice; undefined if it has a problem, which is shown. @param {HTMLElement} start @returns {{start: string, startAt?: number} | undefined} */
export function readStart(start) {
  const chosen = chosenStart(start);
  if (chosen !== "later") return { start: chosen };
  const field = /** @type {HTMLInputElement} */ (start.querySelector("#add-start-at"));
  const startAt = timeOf(field) ?? undefined;
  return showProblems([[field, startAt ? "" : words.badTime]]) && startAt ? { start: "paused", startAt } : undefined;
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

/**
 * @param {HTMLTextAreaElement} field
 * @param {HTMLElement} start
 * @param {OptionForm} form
 * @param {Map<string, Item>} known
 */
function read(field, start, form, known) {
  const { urls, problem } = expanded(field.value);
  const options = form.read();
  if (!showProblems([[field, problem || (urls.length === 0 ? words.noURL : "")]])) return undefined;
  const begin = readStart(start);
  return begin && options && urls.map((url) => ({ ...merged(known.get(url), options, urls.length === 1), url, ...begin }));
}

/**
 * What was dropped, with what the form says; for a single download the form shows all of it, but its pieces and what has no field.
 * @param {Item | undefined} item
 * @param {Record<string, any>} form
 * @param {boolean} isSingle
 */
function merged(item, form, isSingle) {
  if (!item) return form;
  const { mirrors, options, folder, pieces } = item;
  const hidden = isSingle ? Object.fromEntries(Object.entries(options).filter(([name]) => !OptionForm.shows(name))) : options;
  return {
    ...form,
    options: { ...hidden, ...form.options },
    ...(isSingle ? {} : { mirrors, ...(folder ? { folder } : {}) }),
    ...(pieces ? { pieces } : {}),
  };
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
