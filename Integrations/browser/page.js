// What the popup and the settings share: texts in the browser's language, and elements.

/** @param {string} name @param {...string} values */
export const text = (name, ...values) => chrome.i18n.getMessage(name, values);

/** Fills the texts of the document: data-text, and data-label for screen readers. */
export function fillTexts() {
  document.documentElement.lang = chrome.i18n.getUILanguage();
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", text(element.dataset.label));
}

/** @param {string} id @returns {any} */
export const at = (id) => document.getElementById(id);

/** @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node | string)} contents */
export function make(tag, attributes = {}, ...contents) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...contents);
  return element;
}

/** Shows elements in this order; those that stay are not taken out, so that they keep a press and the focus. @param {Element} box @param {Element[]} elements */
export function arrange(box, elements) {
  const staying = new Set(elements);
  for (const other of [...box.children]) if (!staying.has(other)) other.remove();
  elements.forEach((element, index) => box.children[index] === element || box.insertBefore(element, box.children[index] ?? null));
}

/** Asks for the permission to reach a host; must be called in a click. @param {string[]} origins @param {string[]} [permissions] */
export const permit = (origins, permissions = []) => chrome.permissions.request({ origins, permissions });

/** The cookies of a site, with all hosts below it. @param {string} site */
export const permitCookies = (site) => permit([`*://${site}/*`, ...(/^[\d.]+$|:/.test(site) || !site.includes(".") ? [] : [`*://*.${site}/*`])], ["cookies"]);

/** @param {number} bytes */
export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let step = 0;
  while (bytes >= 1024 && step < units.length - 1) [bytes, step] = [bytes / 1024, step + 1];
  return `${bytes.toLocaleString(undefined, { maximumFractionDigits: step === 0 || bytes >= 100 ? 0 : 1 })} ${units[step]}`;
}
