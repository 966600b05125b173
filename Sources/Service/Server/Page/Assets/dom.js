// Creates elements without HTML text: untrusted input can only become text.

/**
 * @typedef {string | Node | null | undefined | false} Content
 */

/**
 * Creates an element. Names that begin with "on" are listeners, "class" is the class, true and false set and omit an
 * attribute, anything else is an attribute's value.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Content | Content[])} contents
 * @returns {any}
 */
export function make(tag, attributes = {}, ...contents) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else if (value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...contents.flat().filter((content) => content || content === ""));
  return element;
}

/**
 * The element with this id, which must exist.
 * @param {string} id
 * @returns {any}
 */
export function at(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * Sets a text only if it differs, to avoid a layout.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {string | null} value
 */
export function setAttribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * Shows elements in this order; those that stay are not taken out, so that they keep a press and the focus.
 * @param {Element} box
 * @param {Element[]} elements
 */
export function arrange(box, elements) {
  const staying = new Set(elements);
  for (const other of [...box.children]) if (!staying.has(other)) other.remove();
  elements.forEach((element, index) => box.children[index] === element || box.insertBefore(element, box.children[index] ?? null));
}
