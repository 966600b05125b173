// The page's texts in the current language.

import { english } from "./words.en.js";
import { useLocale } from "./format.js";

/** Only the browser's language is loaded. @type {Record<string, () => Promise<typeof english>>} */
const languages = {
  en: async () => english,
  zh: () => import("./words.zh.js").then(({ chinese }) => chinese),
};

/** One object, whose members change with the language. */
export const words = { ...english };

/** @param {string | null} preferred a language, or null for the browser's */
export async function useLanguage(preferred) {
  const wanted = preferred ?? navigator.languages.map((name) => name.split("-")[0]).find((name) => languages[name]) ?? "en";
  const texts = await languages[wanted]?.().catch(() => null);
  const language = texts ? wanted : "en";
  Object.assign(words, texts ?? english);
  useLocale(language);
  document.documentElement.lang = language === "zh" ? "zh-Hans" : language;
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
