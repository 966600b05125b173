// The dialog for adding downloads.

import { field, openDialog } from "./asking.js";
import { make } from "./dom.js";
import { parseRate } from "./format.js";
import { addressesIn } from "./dropAndPaste.js";
import { words } from "./words.js";

/** @param {string} id @param {Record<string, any>} [attributes] */
const input = (id, attributes = {}) =>
  make("input", { id, autocomplete: "off", spellcheck: "false", ...attributes });

/**
 * @param {import("./actions.js").Actions} actions
 * @param {string[]} addresses
 */
export function openAdding(actions, addresses = []) {
  const open = document.querySelector("#add-urls");
  if (open) return append(/** @type {HTMLTextAreaElement} */ (open), addresses);
  // Closes other dialogs.
  document.querySelector("dialog")?.close();
  const fields = makeFields(actions.queue, addresses);
  const problem = make("p", { class: "problem", role: "alert" });
  const add = make("button", { type: "submit", class: "primary" }, words.add);
  const dialog = openDialog({
    title: words.addDownloads,
    class: "adding",
    content: layout(fields, problem),
    buttons: [
      make("button", { type: "button", onclick: () => dialog.close() }, words.cancel),
      add,
    ],
    onsubmit: async (event) => {
      event.preventDefault();
      const order = read(fields);
      if (typeof order === "string") {
        problem.textContent = order;
        return;
      }
      add.disabled = true;
      const results = await actions.call("pawl.add", order);
      add.disabled = false;
      if (!results) return;
      showResult(actions, dialog, fields, problem, order, results);
    },
  });
  fields.urls.addEventListener("input", () => showCount(fields));
  showCount(fields);
  fields.urls.focus();
}

/** Appends URLs to the open dialog. @param {HTMLTextAreaElement} urls @param {string[]} addresses */
function append(urls, addresses) {
  urls.value = [urls.value.trimEnd(), ...addresses].filter(Boolean).join("\n");
  urls.dispatchEvent(new Event("input"));
  urls.focus();
}

/**
 * @typedef {ReturnType<typeof makeFields>} Fields
 * @param {import("./queue.js").Queue} queue
 * @param {string[]} addresses
 */
function makeFields(queue, addresses) {
  const urls = make("textarea", {
    id: "add-urls", rows: 4, required: true, spellcheck: "false", autocomplete: "off", placeholder: "https://…",
  });
  urls.value = addresses.join("\n");
  const start = make(
    "fieldset",
    { class: "choices" },
    make("legend", {}, words.start),
    [["enqueued", words.inTurn], ["now", words.atOnce], ["paused", words.asPaused]].map(([value, text]) =>
      make("label", {}, make("input", { type: "radio", name: "start", value, checked: value === "enqueued" }), text),
    ),
  );
  const headers = make("textarea", { id: "add-headers", rows: 2, spellcheck: "false", placeholder: "Cookie: session=…" });
  const mirrors = make("textarea", { id: "add-mirrors", rows: 2, spellcheck: "false", placeholder: "https://…" });
  const groups = make("datalist", { id: "groups" }, [...queue.groups().keys()].map((value) => make("option", { value })));
  return {
    urls, start, headers, mirrors, groups,
    count: make("span", { class: "hint", role: "status" }),
    name: input("add-name"),
    folder: input("add-folder", { placeholder: "films/2026" }),
    group: input("add-group", { list: "groups" }),
    priority: input("add-priority", { type: "number", step: 1, value: 0 }),
    connections: input("add-connections", { type: "number", min: 1, max: 60, placeholder: words.automatic }),
    limit: input("add-limit", { placeholder: words.noLimit }),
    checksum: input("add-checksum", { placeholder: "sha-256=…" }),
    user: input("add-user"),
    password: input("add-password", { type: "password", autocomplete: "new-password" }),
    referer: input("add-referer", { type: "url", placeholder: "https://…" }),
    agent: input("add-agent"),
  };
}

/** @param {Fields} fields @param {HTMLElement} problem */
function layout(fields, problem) {
  return [
    make("div", { class: "field" }, make("label", { for: "add-urls" }, words.urls), fields.urls, fields.count),
    fields.start,
    make(
      "div",
      { class: "columns" },
      field(words.folder, fields.folder, words.folderHint),
      field(words.name, fields.name, words.nameHint),
      field(words.group, fields.group),
      field(words.priority, fields.priority, words.priorityHint),
    ),
    make(
      "details",
      { class: "more" },
      make("summary", {}, words.moreOptions),
      make(
        "div",
        { class: "columns" },
        field(words.connections, fields.connections),
        field(words.limit, fields.limit, words.rateHint),
        field(words.user, fields.user),
        field(words.password, fields.password),
        field(words.referer, fields.referer),
        field(words.agent, fields.agent),
      ),
      field(words.checksum, fields.checksum, words.checksumHint),
      field(words.headers, fields.headers, words.headersHint),
      field(words.mirrors, fields.mirrors, words.mirrorsHint),
    ),
    fields.groups,
    problem,
  ];
}

/** Name, checksum and mirrors apply to a single file. @param {Fields} fields */
function showCount(fields) {
  const count = addressesIn(fields.urls.value).length;
  fields.count.textContent = count === 0 ? words.urlsHint : words.urlCount(count);
  for (const one of [fields.name, fields.checksum, fields.mirrors]) one.disabled = count > 1;
}

/** The parameters for the service, or an error text. @param {Fields} fields @returns {any[] | string} */
function read(fields) {
  const addresses = addressesIn(fields.urls.value);
  if (addresses.length === 0) return words.noURL;
  const rate = parseRate(fields.limit.value);
  if (rate === undefined) return words.badRate;
  const lines = (/** @type {any} */ area) =>
    area.disabled ? [] : area.value.split("\n").map((/** @type {string} */ line) => line.trim()).filter(Boolean);
  /** @type {Record<string, any>} */
  const options = {};
  const put = (/** @type {string} */ name, /** @type {any} */ one) => {
    if (!one.disabled && one.value.trim()) options[name] = one.value.trim();
  };
  put("output", fields.name);
  put("connections", fields.connections);
  put("checksum", fields.checksum);
  put("user", fields.user);
  put("password", fields.password);
  put("referer", fields.referer);
  put("user-agent", fields.agent);
  if (rate) options["limit-rate"] = String(rate);
  const headers = lines(fields.headers);
  if (headers.length > 0) options.header = headers;
  /** @type {Record<string, any>} */
  const order = {
    options,
    start: fields.start.querySelector("input:checked").value,
    priority: Math.round(fields.priority.valueAsNumber || 0),
  };
  if (fields.folder.value.trim()) order.folder = fields.folder.value.trim();
  if (fields.group.value.trim()) order.group = fields.group.value.trim();
  const mirrors = lines(fields.mirrors);
  if (mirrors.length > 0) order.mirrors = mirrors;
  return addresses.map((url) => ({ ...order, url }));
}

/** Keeps refused URLs in the dialog, with the reason. */
function showResult(
  /** @type {import("./actions.js").Actions} */ actions,
  /** @type {HTMLDialogElement} */ dialog,
  /** @type {Fields} */ fields,
  /** @type {HTMLElement} */ problem,
  /** @type {{url: string}[]} */ order,
  /** @type {{id?: string, error?: import("./queue.js").Failure}[]} */ results,
) {
  const added = results.filter((result) => result.id);
  const refused = order.filter((_, index) => results[index].error);
  if (added.length > 0) actions.toasts.show(words.added(added.length));
  const last = added.at(-1)?.id;
  if (refused.length === 0) {
    dialog.close();
    if (last) actions.view.choose(last);
    return;
  }
  fields.urls.value = refused.map(({ url }) => url).join("\n");
  showCount(fields);
  const error = results.find((result) => result.error)?.error;
  problem.textContent = error ? words.failure(error) : "";
}
