// Details of a download as text.

import { setProblem } from "./asking.js";
import { make } from "./dom.js";
import * as format from "./format.js";
import { meanText, sizeText } from "./row.js";
import { partOf } from "./queue.js";
import { words } from "./words.js";

/** @typedef {import("./detail.js").Details} Details */
/** @typedef {string | undefined | null | {text: string, href: string}[]} Value */

export class Facts {
  #facts = make("dl", { class: "facts" });
  #sources = list(words.detail.sources);
  #response = make("dl", { class: "facts" });
  #responseBox = make("div", {}, make("h3", {}, words.detail.response), this.#response);
  #headers = list(words.detail.requestHeaders);
  #technical = make("dl", { class: "facts" });
  #limit = make("input", { id: "detail-limit", placeholder: words.noLimit, autocomplete: "off" });
  #limitForm = make(
    "form",
    { class: "limit-form" },
    make("label", { for: "detail-limit" }, words.limit),
    this.#limit,
    make("button", { type: "submit" }, words.apply),
    make("p", { class: "problem", id: "detail-limit-problem", role: "alert" }),
  );
  element = make(
    "section",
    {},
    make("h3", {}, words.detail.overview),
    this.#facts,
    this.#limitForm,
    make(
      "details",
      { class: "technical" },
      make("summary", {}, words.detail.technical),
      this.#technical,
      this.#sources.element,
      this.#responseBox,
      this.#headers.element,
    ),
  );
  /** @type {Details | null} */
  #details = null;

  /** @param {import("./actions.js").Actions} actions */
  constructor(actions) {
    this.#limitForm.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const rate = format.parseRate(this.#limit.value);
      setProblem(this.#limit, rate === undefined ? words.badRate : "");
      if (rate === undefined) return;
      if (this.#details) actions.limit(this.#details, rate);
      this.#limit.blur();
    });
  }

  /** @param {Details} details */
  show(details) {
    this.#details = details;
    fill(this.#facts, factsOf(details));
    fill(this.#technical, technicalFactsOf(details));
    this.#limitForm.hidden = partOf(details) === "finished";
    if (document.activeElement !== this.#limit) this.#limit.value = format.rateText(details.limit);
    this.#sources.show(details.sources.length > 1 ? details.sources : []);
    this.#headers.show(details.headers);
    this.#responseBox.hidden = details.response === null;
    if (details.response) fill(this.#response, responseFactsOf(details.response));
  }
}

/** What the file was compared with, and the digest on a line of its own. @param {Details} details @returns {string | undefined} */
function verifiedOf(details) {
  const { verification } = details;
  if (!verification) return undefined;
  const { level, algorithm, digest, source, weak, pieces } = verification;
  const how = [words.verified[level] ?? level, weak && words.verified.weak].filter(Boolean).join(", ");
  const what = pieces ? `${algorithm}: ${words.checkedPieces(pieces, 0)}` : `${algorithm}=${digest}`;
  return [how, what, source].filter(Boolean).join("\n");
}

/** The further files of a stream, which can be opened once they are complete. @param {Details} details @returns {Value} */
function othersOf(details) {
  const names = details.parts.slice(1);
  if (names.length === 0 || partOf(details) !== "finished") return names.join("\n");
  return names.map((name) => ({ text: name, href: `/files/${details.id}?part=${encodeURIComponent(name)}` }));
}

/** @param {Details} details @returns {[string, Value][]} */
function factsOf(details) {
  const { facts } = words;
  const { addedAt, startedAt, endedAt } = details;
  const speed = meanText(details) || (details.smoothedSpeed ? format.speed(details.smoothedSpeed) : undefined);
  const took = startedAt && endedAt ? format.took(endedAt - startedAt) : undefined;
  return [
    [facts.path, details.name && [details.folder, details.name].filter(Boolean).join("/")],
    [facts.size, details.total === null ? undefined : sizeText(details)],
    [facts.segments, details.segments ? words.segmentsDone(format.count(details.segments.done), format.count(details.segments.total)) : undefined],
    [facts.others, othersOf(details)],
    [facts.smoothed, speed],
    [facts.checksum, checksumOf(details)],
    [facts.verified, verifiedOf(details)],
    [facts.group, details.group],
    [facts.priority, details.priority ? format.count(details.priority) : undefined],
    [facts.description, details.description],
    [facts.added, addedAt ? format.moment(addedAt) : undefined],
    [facts.startAt, details.startAt ? format.moment(details.startAt) : undefined],
    [facts.started, startedAt ? format.moment(startedAt) : undefined],
    [partOf(details) === "finished" ? facts.ended : facts.failed, endedAt ? format.moment(endedAt) : undefined],
    [facts.took, took],
    [facts.url, details.url],
  ];
}

/** @param {Details} details @returns {[string, string | undefined][]} */
function technicalFactsOf(details) {
  const { facts } = words;
  return [
    [facts.received, details.received ? format.size(details.received) : undefined],
    [facts.type, details.type],
    [facts.id, details.id],
  ];
}

/** Code 32 is a checksum mismatch. @param {Details} details */
function checksumOf(details) {
  const states = words.checksumStates;
  // Said with the digest that it was verified with.
  if (details.verification?.level === "given") return undefined;
  if (!details.checksum) return states.none;
  const state =
    details.state === "finished" ? states.right
    : details.state === "verifying" ? states.checking
    : details.error?.code === 32 ? states.wrong
    : states.pending;
  return `${details.checksum} · ${state}`;
}

/** @param {Record<string, any>} response @returns {[string, string | undefined][]} */
function responseFactsOf(response) {
  const { responseFacts } = words;
  return [
    [responseFacts.status, response.status ? String(response.status) : undefined],
    [responseFacts.contentType, response.contentType],
    [responseFacts.contentLength, response.contentLength === null ? undefined : format.count(response.contentLength)],
    [responseFacts.entityTag, response.entityTag],
    [responseFacts.lastModified, response.lastModified === null ? undefined : format.moment(response.lastModified)],
    [responseFacts.contentDisposition, response.contentDisposition],
  ];
}

/** @param {Value} value */
const breaksAnywhere = (value) => typeof value === "string" && /[\da-f]{32}|^[a-z\d]+:\/\/\S+$/.test(value);

/** @param {Value} value */
const contentOf = (value) =>
  Array.isArray(value)
    ? value.map(({ text, href }) => make("div", {}, make("a", { href, target: "_blank", rel: "noopener" }, text)))
    : [value];

/** Recreates rows only if their text differs, so that text can be selected and copied. */
function fill(/** @type {HTMLElement} */ box, /** @type {[string, Value][]} */ pairs) {
  const shown = pairs.filter(([, value]) => value);
  const state = JSON.stringify(shown);
  if (box.dataset.state === state) return;
  box.dataset.state = state;
  box.replaceChildren(...shown.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", { class: breaksAnywhere(value) ? "unbroken" : null }, ...contentOf(value)))));
}

/** @param {string} title */
function list(title) {
  const items = make("ul", { class: "plain-list" });
  const element = make("div", { hidden: true }, make("h3", {}, title), items);
  return {
    element,
    show(/** @type {string[]} */ texts) {
      element.hidden = texts.length === 0;
      const state = texts.join("\n");
      if (items.dataset.state === state) return;
      items.dataset.state = state;
      items.replaceChildren(...texts.map((text) => make("li", {}, text)));
    },
  };
}
