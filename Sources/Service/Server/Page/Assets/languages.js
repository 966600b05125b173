// The languages of the page, by the names of their files.

export const endonyms = {
  en: "English", de: "Deutsch", es: "Español", fr: "Français", ja: "日本語", pt: "Português (Brasil)", zh: "简体中文",
};

/** The tags of those whose name is not one. @type {Record<string, string>} */
const tags = { pt: "pt-BR", zh: "zh-Hans" };

/** For `lang`. @param {string} language */
export const tagOf = (language) => tags[language] ?? language;
