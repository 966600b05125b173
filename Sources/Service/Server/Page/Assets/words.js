// The page's texts in the current language.

import { useLocale } from "./format.js";
import { tagOf } from "./languages.js";
import { english } from "./words.en.js";

/** @typedef {typeof english} Words */
/** The words of another language, and the tables for the rest. @typedef {Omit<Words, keyof ReturnType<typeof import("./translating.js").translated>> & {tables: import("./translating.js").Tables}} Translation */

/** Only the browser's language is loaded. @type {Record<string, () => Promise<Translation>>} */
const languages = {
  de: () => import("./words.de.js").then(({ german }) => german),
  es: () => import("./words.es.js").then(({ spanish }) => spanish),
  fr: () => import("./words.fr.js").then(({ french }) => french),
  ja: () => import("./words.ja.js").then(({ japanese }) => japanese),
  pt: () => import("./words.pt.js").then(({ portuguese }) => portuguese),
  zh: () => import("./words.zh.js").then(({ chinese }) => chinese),
};

/** One object, whose members change with the language. */
export const words = { ...english };

/** The texts of a language but English. @param {string} language @returns {Promise<Words>} */
export async function textsIn(language) {
  const [{ tables, ...texts }, { translated }] = await Promise.all([languages[language](), import("./translating.js")]);
  return { ...texts, ...translated(tables) };
}

/** @param {string | null} preferred a language, or null for the browser's */
export async function useLanguage(preferred) {
  const isKnown = (/** @type {string | null | undefined} */ name) => name === "en" || (name ?? "") in languages;
  const wanted = (isKnown(preferred) ? preferred : navigator.languages.map((name) => name.split("-")[0]).find(isKnown)) ?? "en";
  const texts = wanted === "en" ? english : await textsIn(wanted).catch(() => null);
  const language = tagOf(texts ? wanted : "en");
  Object.assign(words, texts ?? english);
  useLocale(language);
  document.documentElement.lang = language;
}

/** Fills in the texts of index.html: data-word (text), data-label (for screen readers), data-hint (placeholder). */
export function fillWords() {
  /** @type {Record<string, any>} */
  const texts = words;
  for (const element of document.querySelectorAll("[data-word], [data-label], [data-hint]")) {
    const { word, label, hint } = /** @type {HTMLElement} */ (element).dataset;
    if (word) element.textContent = texts[word];
    if (label) element.setAttribute("aria-label", texts[label]);
    if (hint) element.setAttribute("placeholder", texts[hint]);
  }
}

/** A call's error in the page's language. @param {any} error @param {(failure: import("./queue.js").Failure) => string} [describe] */
export const textOf = (error, describe = words.failure) => (error.message === "offline" ? words.notConnected : describe(error));
