// The settings of the service: defaults of later downloads, rules for their folders, limits, schedule; hooks are shown only.

import { field, openDialog, optionOf, problemOf, setProblem, showProblems } from "./asking.js";
import { make } from "./dom.js";
import * as format from "./format.js";
import { applyLimits } from "./limits.js";
import { RulesField } from "./rules.js";
import { ScheduleField } from "./schedule.js";
import { textOf, words } from "./words.js";

/** @param {string} id @param {Record<string, any>} [attributes] */
const input = (id, attributes = {}) => make("input", { id, autocomplete: "off", spellcheck: "false", ...attributes });

/** @param {import("./actions.js").Actions} actions @param {"schedule" | null} [part] is scrolled into view */
export async function openServiceSettings(actions, part = null) {
  const settings = await actions.call("pawl.settings");
  if (!settings) return;
  const { options } = settings;
  const fields = makeFields(settings);
  const schedule = new ScheduleField(settings.timetable);
  const rules = new RulesField(actions.connection, settings.rules);
  const atEnd = atEndChoice(settings);
  const problem = make("p", { class: "problem", role: "alert" });
  const title = make("h3", { id: "schedule-title" }, words.schedule);
  const dialog = openDialog({
    title: words.serviceSettings,
    class: "service-settings",
    content: [
      section(words.settingsDownloads, [
        field(words.folder, fields.folder, words.folderHint),
        field(words.slots, fields.slots),
        field(words.connections, fields.connections, words.perFile),
        field(words.existing, fields.existing),
        field(words.retries, fields.retries, words.retriesHint),
        field(words.timeout, fields.timeout, words.timeoutHint),
      ], words.settingsHint),
      make("section", {}, make("h3", {}, words.rules), make("p", { class: "hint" }, words.rulesHint), rules.element),
      section(words.settingsSpeed, [
        field(words.speedLimit, fields.limit, words.rateHint),
        field(words.limitOfEach, fields.each, words.rateHint),
      ]),
      make("section", {}, title, schedule.element),
      section(words.settingsNetwork, [
        field(words.proxy, fields.proxy, words.proxyHint),
        field(words.noProxy, fields.noProxy, words.noProxyHint),
        field(words.agent, fields.agent),
      ]),
      make("section", {}, make("h3", {}, words.atEnd), atEnd),
      make("section", {}, make("h3", {}, words.hooks), hooksOf(settings), make("p", { class: "hint" }, words.hooksHint)),
      problem,
    ],
    buttons: [
      make("button", { type: "button", onclick: () => dialog.close() }, words.cancel),
      make("button", { type: "submit", class: "primary" }, words.save),
    ],
    onsubmit: async (event) => {
      event.preventDefault();
      problem.textContent = "";
      if (await save(actions, settings, { fields, schedule, rules, atEnd }, problem)) dialog.close();
    },
  });
  fields.existing.value = options["if-exists"] ?? "rename";
  if (part === "schedule") title.scrollIntoView();
  else fields.folder.focus();
}

/** @param {Record<string, any>} settings */
function makeFields({ options, folder, slots, limit }) {
  return {
    folder: input("set-folder", { value: folder, placeholder: "films/2026" }),
    slots: input("bounds-slots", { type: "number", min: 1, max: 1000, required: true, value: slots }),
    connections: input("set-connections", { type: "number", min: 1, max: 60, value: options.connections ?? "", placeholder: words.automatic }),
    existing: make("select", { id: "set-existing" }, Object.entries(words.existingChoices).map(([value, text]) => make("option", { value }, text))),
    retries: input("set-retries", { type: "number", min: 0, max: 1_000_000, value: options.retries ?? "", placeholder: 5 }),
    timeout: input("set-timeout", { type: "number", min: 1, max: 86_400, value: options.timeout === undefined ? "" : Number(options.timeout), placeholder: 30 }),
    limit: input("bounds-rate", { value: format.rateText(limit), placeholder: words.noLimit }),
    each: input("set-each", { value: format.rateText(Number(options["limit-rate"] ?? 0)), placeholder: words.noLimit }),
    proxy: input("set-proxy", { value: options.proxy ?? "", placeholder: words.fromEnvironment }),
    noProxy: input("set-no-proxy", { value: options["no-proxy"] ?? "" }),
    agent: input("set-agent", { value: options["user-agent"] ?? "", placeholder: "Pawl" }),
  };
}

/** The fields by the options that they set. @type {Record<string, keyof ReturnType<typeof makeFields>>} */
const fieldOf = {
  folder: "folder", connections: "connections", "if-exists": "existing", retries: "retries", timeout: "timeout",
  "limit-rate": "each", proxy: "proxy", "no-proxy": "noProxy", "user-agent": "agent",
};

/** @param {string} title @param {Node[]} contents @param {string} [hint] */
const section = (title, contents, hint = "") =>
  make("section", {}, make("h3", {}, title), make("div", { class: "columns" }, contents), hint && make("p", { class: "hint" }, hint));

/** @param {Record<string, any>} settings */
function hooksOf({ hooks, webhook }) {
  const all = [...Object.entries(hooks), ...(webhook ? [["webhook", webhook]] : [])];
  if (all.length === 0) return make("p", { class: "hint" }, words.noHooks);
  return make("dl", { class: "facts" }, all.map(([name, value]) =>
    make("div", {}, make("dt", {}, words.hookNames[name] ?? name), make("dd", {}, make("code", {}, value)))));
}

/** Whether the program for the end runs; without one there is nothing to choose. @param {Record<string, any>} settings */
function atEndChoice({ atEnd, hooks }) {
  const program = hooks.idle;
  const choice = (/** @type {string} */ value, /** @type {any[]} */ ...text) =>
    make("label", {}, make("input", { type: "radio", name: "at-end", value, checked: value === (program ? atEnd : "nothing"), disabled: !program }), make("span", {}, ...text));
  return make(
    "fieldset",
    { class: "choices is-column" },
    make("legend", { class: "unseen" }, words.atEnd),
    choice("nothing", words.atEndNothing),
    choice("command", words.atEndCommand, program && [" ", make("code", {}, program)]),
    make("p", { class: "hint" }, program ? words.atEndHint : words.noCommandAtEnd),
  );
}

/**
 * @param {import("./actions.js").Actions} actions
 * @param {Record<string, any>} shown
 * @param {{fields: ReturnType<typeof makeFields>, schedule: ScheduleField, rules: RulesField, atEnd: HTMLElement}} parts
 * @param {HTMLElement} problem
 */
async function save(actions, shown, { fields, schedule, rules, atEnd }, problem) {
  const [limit, each] = [fields.limit, fields.each].map((one) => format.parseRate(one.value));
  const problems = Object.values(fields).map((one) => /** @type {[any, string]} */ ([
    one, (one === fields.limit && limit === undefined) || (one === fields.each && each === undefined) ? words.badRate : problemOf(one),
  ]));
  if (!showProblems([...problems, ...rules.problems])) return false;
  const options = Object.fromEntries(
    Object.entries({
      connections: fields.connections.value, "if-exists": fields.existing.value, retries: fields.retries.value,
      timeout: fields.timeout.value, "limit-rate": each ? String(each) : "", proxy: fields.proxy.value.trim(),
      "no-proxy": fields.noProxy.value.trim(), "user-agent": fields.agent.value.trim(),
    }).filter(([, value]) => value !== ""),
  );
  const folder = fields.folder.value.trim();
  try {
    await actions.connection.call("pawl.configure", { options, folder: folder === "." ? "" : folder });
  } catch (error) {
    return showFailure(error, /** @type {Record<string, any>} */ (fields)[fieldOf[optionOf(/** @type {any} */ (error))]], problem);
  }
  try {
    if (JSON.stringify(rules.value) !== JSON.stringify(shown.rules)) await actions.connection.call("pawl.setRules", rules.value);
    shown.rules = rules.value;
  } catch (error) {
    return showFailure(error, rules.guilty(/** @type {any} */ (error)), problem);
  }
  const chosen = /** @type {HTMLInputElement} */ (atEnd.querySelector("input:checked"));
  try {
    if (!chosen.disabled && chosen.value !== shown.atEnd) await actions.connection.call("pawl.atEnd", chosen.value);
    shown.atEnd = chosen.value;
  } catch (error) {
    return showFailure(error, undefined, problem);
  }
  const limits = { limit, slots: fields.slots.valueAsNumber, timetable: schedule.value };
  return applyLimits(actions, shown, limits, { limit: fields.limit, slots: fields.slots, timetable: schedule.input });
}

/** Shows a refusal below its field, else below all of them. @param {any} error @param {HTMLElement | undefined} guilty @param {HTMLElement} problem */
function showFailure(error, guilty, problem) {
  if (guilty) {
    setProblem(guilty, textOf(error, words.refusal));
    guilty.focus();
  } else {
    problem.textContent = textOf(error);
    problem.scrollIntoView();
  }
  return false;
}
