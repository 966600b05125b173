// The form of a download's options, for adding and for editing.

import { field, optionOf, problemOf, setProblem, showProblems } from "./asking.js";
import { make } from "./dom.js";
import { parseRate, rateText } from "./format.js";
import { words } from "./words.js";

/** @param {string} id @param {Record<string, any>} [attributes] */
const input = (id, attributes = {}) => make("input", { id, autocomplete: "off", spellcheck: "false", ...attributes });

/** A field for a time in the future. @param {string} id @param {number} [seconds] since 1970 */
export function timeField(id, seconds) {
  const minutes = (/** @type {number} */ moment) => new Date(moment - new Date(moment).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  return input(id, { type: "datetime-local", value: seconds ? minutes(seconds * 1000) : "", min: minutes(Date.now()) });
}

/** The seconds since 1970; null if it is empty, undefined if it is not in the future. @param {HTMLInputElement} field */
export function timeOf({ value, validity }) {
  if (value === "") return validity.badInput ? undefined : null;
  const time = new Date(value).getTime();
  return time > Date.now() ? Math.floor(time / 1000) : undefined;
}

/** The fields by the options that they set, for values and for problems. @type {Record<string, string>} */
const fieldOf = {
  folder: "folder", output: "name", connections: "connections", "limit-rate": "limit", checksum: "checksum", user: "user", password: "password",
  referer: "referer", "user-agent": "agent", header: "headers", mirror: "mirrors",
};

export class OptionForm {
  /** Whether an option has a field. @param {string} name */
  static shows(name) {
    return name in fieldOf && name !== "password";
  }

  /** @type {Record<string, any>} */
  fields;

  /**
   * @param {import("./queue.js").Queue} queue
   * @param {{isKnown?: boolean, hasPassword?: boolean}} [download] for editing
   */
  constructor(queue, { isKnown = false, hasPassword = false } = {}) {
    this.isKnown = isKnown;
    const lines = (/** @type {string} */ id, /** @type {string} */ placeholder) =>
      make("textarea", { id, rows: 2, spellcheck: "false", autocomplete: "off", placeholder });
    this.fields = {
      name: input("add-name"),
      folder: input("add-folder", { placeholder: "films/2026", list: "folders" }),
      group: input("add-group", { list: "groups" }),
      priority: input("add-priority", { type: "number", step: 1, value: 0 }),
      connections: input("add-connections", { type: "number", min: 1, max: 60, placeholder: words.automatic }),
      limit: input("add-limit", { placeholder: words.noLimit }),
      checksum: input("add-checksum", { placeholder: "sha-256=…" }),
      user: input("add-user"),
      password: input("add-password", { type: "password", autocomplete: "new-password", placeholder: hasPassword ? words.unchanged : null }),
      referer: input("add-referer", { type: "url", placeholder: "https://…" }),
      agent: input("add-agent"),
      headers: lines("add-headers", "Cookie: session=…"),
      mirrors: lines("add-mirrors", "https://…"),
    };
    const folders = new Set([...queue.rows.values()].map(({ folder }) => folder).filter(Boolean));
    this.lists = [
      make("datalist", { id: "groups" }, [...queue.groups().keys()].map((value) => make("option", { value }))),
      make("datalist", { id: "folders" }, [...folders].sort().map((value) => make("option", { value }))),
    ];
  }

  /** The folder, then all others. @param {boolean} isOpen whether all options are shown */
  layout(isOpen = false) {
    const { fields } = this;
    return [
      field(words.folder, fields.folder, words.folderHint),
      make(
        "details",
        { class: "more", open: isOpen },
        make("summary", {}, words.moreOptions),
        make(
          "div",
          { class: "columns" },
          field(words.name, fields.name, words.nameHint),
          field(words.group, fields.group),
          field(words.priority, fields.priority, words.priorityHint),
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
      ...this.lists,
    ];
  }

  /** Name, checksum and mirrors apply to a single file. @param {boolean} isSingle */
  allowOne(isSingle) {
    for (const one of [this.fields.name, this.fields.checksum, this.fields.mirrors]) one.disabled = !isSingle;
  }

  /**
   * Shows the failure below the field that it is about; false if there is none.
   * @param {import("./queue.js").Failure} failure
   */
  showProblem(failure) {
    const one = this.fields[fieldOf[optionOf(failure)]];
    if (!one) return false;
    setProblem(one, words.refusal(failure));
    const more = one.closest("details");
    if (more) more.open = true;
    one.focus();
    return true;
  }

  /** The values of all fields but the password, for a draft. */
  get draft() {
    return Object.fromEntries(Object.entries(this.fields).filter(([name]) => name !== "password").map(([name, { value }]) => [name, value]));
  }

  /** @param {Record<string, string>} values */
  fill(values) {
    for (const [name, value] of Object.entries(values)) if (this.fields[name]) this.fields[name].value = value;
    // What has a value is shown.
    const more = this.fields.limit.closest("details");
    const isInside = (/** @type {string} */ name) => name !== "folder" && values[name] && (name !== "priority" || values[name] !== "0");
    if (more && Object.keys(values).some(isInside)) more.open = true;
  }

  /** The values of a download. @param {Record<string, any>} item as `pawl.options` returns it */
  fillFrom({ options, mirrors, folder, group, priority }) {
    const texts = (/** @type {string} */ name) => [options[name] ?? []].flat().join("\n");
    this.fill({
      ...Object.fromEntries(Object.entries(fieldOf).filter(([option]) => option !== "password" && option !== "folder").map(([option, name]) => [name, texts(option)])),
      limit: rateText(Number(options["limit-rate"] ?? 0)),
      mirrors: mirrors.join("\n"), folder, group: group ?? "", priority: String(priority),
    });
  }

  /** The fields with what is wrong with them, "" for nothing. @returns {[any, string][]} */
  get #problems() {
    const { fields } = this;
    const wrong = lines(fields.headers).find((line) => !/^[^\s:]+:/.test(line));
    return Object.values(fields).map((one) => [
      one,
      one === fields.limit && parseRate(fields.limit.value) === undefined ? words.badRate
      : one === fields.headers && wrong !== undefined ? words.badHeader(wrong)
      : problemOf(one),
    ]);
  }

  get isValid() {
    return this.#problems.every(([, text]) => text === "");
  }

  /** What the service takes; undefined if fields have problems, all of which are shown. @returns {Record<string, any> | undefined} */
  read() {
    const { fields } = this;
    if (!showProblems(this.#problems)) return undefined;
    const rate = parseRate(fields.limit.value);
    /** @type {Record<string, any>} */
    const options = {};
    const put = (/** @type {string} */ name, /** @type {any} */ one, value = one.value.trim()) => {
      if (one.disabled) return;
      if (value !== "") options[name] = value;
      // Editing removes what was emptied.
      else if (this.isKnown) options[name] = null;
    };
    put("output", fields.name);
    put("connections", fields.connections);
    put("checksum", fields.checksum);
    put("user", fields.user);
    put("referer", fields.referer);
    put("user-agent", fields.agent);
    put("limit-rate", fields.limit, rate ? String(rate) : "");
    if (fields.password.value) options.password = fields.password.value;
    const headers = lines(fields.headers);
    if (headers.length > 0 || this.isKnown) options.header = headers;
    const folder = fields.folder.value.trim();
    const group = fields.group.value.trim();
    const mirrors = fields.mirrors.disabled ? [] : lines(fields.mirrors);
    return {
      options,
      priority: Math.round(fields.priority.valueAsNumber || 0),
      ...(folder || this.isKnown ? { folder } : {}),
      ...(group || this.isKnown ? { group } : {}),
      ...(mirrors.length > 0 || this.isKnown ? { mirrors } : {}),
    };
  }
}

/** @param {any} area */
const lines = (area) => area.value.split("\n").map((/** @type {string} */ line) => line.trim()).filter(Boolean);
