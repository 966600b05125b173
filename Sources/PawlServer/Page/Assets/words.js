// The page's texts in the current language.

import { chinese } from "./words.zh.js";
import { english } from "./words.en.js";
import { useLocale } from "./format.js";

/** @type {Record<string, typeof english>} */
const languages = { en: english, zh: chinese };

/** One object, whose members change with the language. */
export const words = { ...english };

/** @param {string | null} preferred a language, or null for the browser's */
export function useLanguage(preferred) {
  const language = preferred ?? navigator.languages.map((name) => name.split("-")[0]).find((name) => languages[name]) ?? "en";
  Object.assign(words, languages[language] ?? english);
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
