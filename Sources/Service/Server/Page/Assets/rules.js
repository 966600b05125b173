// The rules for the folders of new downloads: a list that is edited, and a URL to try it with.

import { make, setAttribute } from "./dom.js";
import { icon } from "./icons.js";
import { textOf, words } from "./words.js";

/** @typedef {{match: string, folder: string}} Rule */

const kinds = ["type", "host", "name", "url"];
const examples = { host: "example.org", name: "*.iso", url: "example.org/nightly/*" };

/** A row of the list. @typedef {{element: HTMLElement, kind: HTMLSelectElement, type: HTMLSelectElement, pattern: HTMLInputElement, folder: HTMLInputElement}} Line */

export class RulesField {
  /** @type {Line[]} */
  #lines = [];
  #made = 0;
  #list = make("ol", { class: "rules", "aria-label": words.rules });
  #none = make("p", { class: "hint" }, words.noRules);
  #url = make("input", { id: "rules-url", type: "url", autocomplete: "off", spellcheck: "false", placeholder: "https://example.org/film.mkv", "aria-describedby": "rules-result" });
  #result = make("p", { class: "hint", id: "rules-result", role: "status" });
  #timer = 0;
  element;

  /** @param {import("./connection.js").Connection} connection @param {Rule[]} rules */
  constructor(connection, rules) {
    this.connection = connection;
    const add = make("button", { type: "button", class: "small", onclick: () => this.#add({ match: "type:video", folder: "" }).kind.focus() }, icon("add"), words.addRule);
    this.element = make(
      "div",
      { class: "rules-box" },
      this.#list,
      this.#none,
      add,
      make("div", { class: "field" }, make("label", { for: "rules-url" }, words.tryRules), this.#url, this.#result),
    );
    for (const rule of rules) this.#add(rule);
    this.#count();
    this.element.addEventListener("input", () => this.#try());
  }

  /** @returns {Rule[]} */
  get value() {
    return this.#lines.map((line) => ({ match: `${line.kind.value}:${matchOf(line).value.trim()}`, folder: line.folder.value.trim() }));
  }

  /** What is empty, with the words for it. @returns {[HTMLElement, string][]} */
  get problems() {
    return this.#lines.flatMap((line) => [matchOf(line), line.folder].map((one) => /** @type {[HTMLElement, string]} */ ([one, one.value.trim() ? "" : words.valueMissing])));
  }

  /** The field that a refusal of the service is about; undefined if that is not known. @param {import("./queue.js").Failure} failure */
  guilty({ place = "" }) {
    const index = this.value.findIndex(({ match, folder }) => place === `the rule ${match}` || place === `the folder ${folder}`);
    const line = this.#lines[index];
    return line && (place.startsWith("the folder ") ? line.folder : matchOf(line));
  }

  /** @param {Rule} rule */
  #add({ match, folder }) {
    const number = (this.#made += 1);
    const [, key, text] = /^(\w+):(.*)$/s.exec(match) ?? ["", "name", match];
    const named = (/** @type {string} */ name) => ({ id: `rule-${number}-${name}`, "aria-describedby": `rule-${number}-${name}-problem` });
    const option = (/** @type {string} */ value, /** @type {string} */ word, /** @type {string} */ chosen) => make("option", { value, selected: value === chosen }, word);
    const kind = make("select", { class: "rule-kind" }, kinds.map((name) => option(name, words.ruleKinds[name], key)));
    const type = make("select", named("type"), Object.entries(words.fileKinds).map(([name, word]) => option(name, word, text)));
    const pattern = make("input", { ...named("pattern"), autocomplete: "off", spellcheck: "false", value: key === "type" ? "" : text });
    const path = make("input", { ...named("folder"), autocomplete: "off", spellcheck: "false", value: folder, placeholder: "films/2026" });
    const button = (/** @type {import("./icons.js").Icon} */ picture, /** @type {string} */ name, /** @type {() => void} */ run) =>
      make("button", { type: "button", class: "quiet", "data-rule": name, onclick: run }, icon(picture));
    /** @type {Line} */
    const line = { element: make("li", { class: "rule" }), kind, type, pattern, folder: path };
    const problem = (/** @type {string} */ name) => make("p", { class: "problem", id: `rule-${number}-${name}-problem`, role: "alert" });
    line.element.append(
      make("div", { class: "rule-fields" }, kind, type, pattern, make("span", { class: "rule-arrow", "aria-hidden": "true" }, "→"), path),
      make("div", { class: "rule-buttons" }, button("up", "up", () => this.#move(line, -1)), button("down", "down", () => this.#move(line, 1)), button("close", "remove", () => this.#remove(line))),
      problem("type"), problem("pattern"), problem("folder"),
    );
    kind.addEventListener("change", () => show(line));
    show(line);
    this.#lines.push(line);
    this.#list.append(line.element);
    this.#count();
    return line;
  }

  /** @param {Line} line @param {number} step */
  #move(line, step) {
    const index = this.#lines.indexOf(line);
    const other = index + step;
    if (!this.#lines[other]) return;
    [this.#lines[index], this.#lines[other]] = [this.#lines[other], line];
    this.#list.replaceChildren(...this.#lines.map(({ element }) => element));
    this.#count();
    const buttons = [...line.element.querySelectorAll("button")];
    (buttons[step < 0 ? 0 : 1].disabled ? buttons[step < 0 ? 1 : 0] : buttons[step < 0 ? 0 : 1]).focus();
    this.#try();
  }

  /** @param {Line} line */
  #remove(line) {
    const index = this.#lines.indexOf(line);
    this.#lines.splice(index, 1);
    line.element.remove();
    this.#count();
    this.#try();
    const next = this.#lines[Math.min(index, this.#lines.length - 1)];
    (next ? next.element.querySelector("[data-rule=remove]") : this.element.querySelector("button.small"))?.focus();
  }

  /** Names of the fields and buttons have the number of their rule. */
  #count() {
    this.#none.hidden = this.#lines.length > 0;
    this.#lines.forEach(({ element, kind, type, pattern, folder }, index) => {
      const text = { up: words.moveRuleUp, down: words.moveRuleDown, remove: words.removeRule };
      setAttribute(kind, "aria-label", words.ruleKind(index + 1));
      for (const one of [type, pattern]) setAttribute(one, "aria-label", words.ruleMatch(index + 1));
      setAttribute(folder, "aria-label", words.ruleFolder(index + 1));
      for (const button of element.querySelectorAll("button")) {
        const name = /** @type {keyof typeof text} */ (button.dataset.rule);
        setAttribute(button, "aria-label", text[name](index + 1));
        setAttribute(button, "title", text[name](index + 1));
        button.disabled = (name === "up" && index === 0) || (name === "down" && index === this.#lines.length - 1);
      }
    });
  }

  /** Shows which rule fits the URL, as the service says it, once nothing has been typed for a moment. */
  #try() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), 200);
  }

  async #ask() {
    const url = this.#url.value.trim();
    const complete = this.value.map((rule, index) => ({ rule, index })).filter(({ rule }) => rule.folder && !rule.match.endsWith(":"));
    let fitting = -1;
    let text = "";
    if (url) {
      try {
        const found = await this.connection.call("pawl.testRules", url, complete.map(({ rule }) => rule));
        fitting = found ? complete[found.index].index : -1;
        text = found ? words.ruleFits(fitting + 1, found.folder) : words.noRuleFits;
      } catch (error) {
        text = textOf(error, words.refusal);
      }
    }
    if (url !== this.#url.value.trim()) return;
    this.#result.textContent = text;
    this.#lines.forEach(({ element }, index) => element.classList.toggle("is-fitting", index === fitting));
  }
}

/** @param {Line} line */
const matchOf = ({ kind, type, pattern }) => (kind.value === "type" ? type : pattern);

/** @param {Line} line */
function show({ kind, type, pattern }) {
  const isType = kind.value === "type";
  type.hidden = !isType;
  pattern.hidden = isType;
  pattern.placeholder = examples[/** @type {keyof typeof examples} */ (kind.value)] ?? "";
}
