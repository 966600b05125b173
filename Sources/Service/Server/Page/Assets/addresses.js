// URLs as people paste them: without a scheme, with text around them, or as a pattern for many.

const schemes = ["http", "https", "ftp", "ftps", "sftp", "s3"];
const scheme = /^([a-z][a-z0-9+.-]*):/i;

/** Every URL in a text, without duplicates. @param {string} text @returns {string[]} */
export function addressesIn(text) {
  const found = text.match(/\b(?:https?|ftps?|sftp|s3):\/\/[^\s<>"'`|\\^{}]+/gi) ?? [];
  return [...new Set(found.map(trimmed))];
}

/** Without the punctuation of a sentence, and with closing brackets only if they were opened in it. @param {string} address */
function trimmed(address) {
  let rest = address.replace(/[,.;!?]+$/, "");
  for (const [open, close] of ["()", "[]"]) {
    while (rest.endsWith(close) && rest.split(close).length > rest.split(open).length) rest = rest.slice(0, -1).replace(/[,.;!?]+$/, "");
  }
  return rest;
}

/** One word of a list with its scheme; null if it is no address. @param {string} word */
function completed(word) {
  const name = /^([^/?#:@\s]+)(:\d+)?(?:[/?#]|$)/.exec(word);
  if (!name) return null;
  const [, host, port] = name;
  if (host === "localhost" || /^\d+\.\d+\.\d+\.\d+$/.test(host)) return `http://${word}`;
  // A file name alone is no address.
  const isName = /^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}$/u.test(host);
  const isPlace = /^www\./i.test(host) || /[/?#]/.test(word) || port !== undefined;
  return isName && isPlace ? `https://${word}` : null;
}

/**
 * @typedef {object} Intake
 * @property {string[]} urls in their order, without duplicates
 * @property {string[]} refused schemes that are not supported, such as magnet
 * @property {string[]} unknown words that are no address
 */

/** The addresses of a list, with what was left out. @param {string} text @returns {Intake} */
export function intake(text) {
  const [urls, refused, unknown] = [new Set(), new Set(), new Set()];
  for (const line of text.split("\n")) {
    if (/^\s*#/.test(line)) continue;
    const inLine = addressesIn(line);
    for (const url of inLine) urls.add(url);
    if (inLine.length > 0) continue;
    for (const word of line.split(/[\s<>"'`]+/).map(trimmed).filter(Boolean)) {
      const found = completed(word);
      const given = scheme.exec(word)?.[1].toLowerCase();
      if (found) urls.add(found);
      else if (given && !schemes.includes(given) && word.length > given.length + 1) refused.add(given);
      else unknown.add(word);
    }
  }
  return { urls: [...urls], refused: [...refused], unknown: [...unknown] };
}

export const mostExpanded = 1000;

/** The URLs of a pattern such as `[001-100]` or `[a-e]`; null for too many. @param {string} url @returns {string[] | null} */
export function expand(url) {
  const found = /\[(\d+)-(\d+)\]|\[([a-z])-([a-z])\]/i.exec(url);
  if (!found) return [url];
  const values = found[1] === undefined ? characters(found[3], found[4]) : numbers(found[1], found[2]);
  if (values === null) return null;
  const all = [];
  for (const value of values) {
    const rest = expand(url.slice(0, found.index) + value + url.slice(found.index + found[0].length));
    if (rest === null || all.length + rest.length > mostExpanded) return null;
    all.push(...rest);
  }
  return all;
}

/** With the zeros of the first. @param {string} from @param {string} to */
function numbers(from, to) {
  const [first, last] = [Number(from), Number(to)];
  const count = Math.abs(last - first) + 1;
  if (count > mostExpanded) return null;
  return Array.from({ length: count }, (_, index) => String(first + (last < first ? -index : index)).padStart(from.length, "0"));
}

/** @param {string} from @param {string} to */
function characters(from, to) {
  const [first, last] = [from.charCodeAt(0), to.charCodeAt(0)];
  const count = Math.abs(last - first) + 1;
  return Array.from({ length: count }, (_, index) => String.fromCharCode(first + (last < first ? -index : index)));
}

/** What a link (`#add=URL`) or another application (`?url=`, `?text=`) hands over to the page. @param {string} search @param {string} hash */
export function handedOver(search, hash) {
  const shared = new URLSearchParams(search);
  if (!hash.startsWith("#add=")) return [shared.get("url"), shared.get("text")].filter(Boolean).join("\n");
  let text = hash.slice("#add=".length);
  try {
    text = decodeURIComponent(text);
  } catch {
    // It is taken as it is.
  }
  // Blanks of a URL were encoded; those between URLs were not.
  return text.replace(/^\s*[a-z\d]+:\/\/.*\S/gim, (line) => line.replace(/ (?! *[a-z\d]+:\/\/)/gi, "%20"));
}
