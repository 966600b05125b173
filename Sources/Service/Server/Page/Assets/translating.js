// What the service says in English, in another language: messages by their identifiers, failures by their codes.

import { awaitedBy, causeOf, remedyIn } from "./queue.js";

/** @typedef {import("./queue.js").Failure} Failure */
/** @typedef {import("./queue.js").LocalizableMessage} LocalizableMessage */

/**
 * The tables of a language. `messages` by the identifiers of `LocalizableMessage`; {0} and so on are the values in the order of the
 * English sentence. `failures` and the remedies by the codes in Documentation/JSON.md.
 * @typedef {object} Tables
 * @property {Record<string, string>} messages
 * @property {Record<number, string>} failures
 * @property {Record<number, string>} remedies
 * @property {Record<number, string>} storeRemedies of object stores
 * @property {Record<string, string>} waitRemedies for a download that waits for its disk
 * @property {Record<number, string>} renameFailures
 * @property {string} remedyOfForbidden
 * @property {{place: string, open: string, close: string, and: string}} marks between a failure, its place and its cause; before a remedy
 */

/** Codes that their causes repeat. */
const saidByCause = new Set([6, 19, 33]);

/** The texts of a language that are made of its tables. @param {Tables} tables */
export function translated({ messages, failures, remedies, storeRemedies, waitRemedies, renameFailures, remedyOfForbidden, marks }) {
  /** @param {LocalizableMessage} message @returns {string} */
  const localized = ({ messageID, values = [], message }) => {
    const pattern = messages[messageID];
    return pattern === undefined ? message : pattern.replace(/\{(\d)\}/g, (_, index) => valueOf(values[index]));
  };
  /** @param {string | LocalizableMessage | Failure} value */
  const valueOf = (value) => {
    if (typeof value === "string") return value;
    return "code" in value ? failure(value) : localized(/** @type {LocalizableMessage} */ (value));
  };
  /** The text of the code; a cause without an identifier keeps the text of the service, the system or the server. @param {Failure} error @returns {string} */
  const failure = ({ code, message, place, why, cause }) => {
    const found = code === undefined ? undefined : failures[code];
    if (found === undefined) return message;
    return [found, place && marks.place + place, marks.open, cause ? localized(cause) : causeOf({ message, why }), marks.close].filter(Boolean).join("");
  };
  /** Why something failed, without its place. @param {Failure} error */
  const cause = (error) => {
    const isWhole = error.cause !== undefined && error.cause.messageID !== "untranslated" && error.cause.messageID in messages;
    return isWhole && (saidByCause.has(error.code ?? 0) || awaitedBy(error)) ? localized(error.cause) : failure({ ...error, place: undefined });
  };
  const remedyOf = remedyIn({ remedies, storeRemedies, waitRemedies, remedyOfForbidden });
  return {
    failure,
    cause,
    /** Below the field that it is about. */
    refusal: cause,
    reason: (/** @type {Failure} */ error) => [cause(error), remedyOf(error)].filter(Boolean).join(marks.and),
    localized,
    renameFailure: (/** @type {Failure} */ error) => renameFailures[error.code ?? 0] ?? failure(error),
  };
}
