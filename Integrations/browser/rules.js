// What is handed over, and with what: decisions only, without the browser and the service.

/**
 * @typedef {object} Settings
 * @property {boolean} isOn whether downloads of the browser are handed over
 * @property {number} leastSize in bytes; smaller downloads stay with the browser
 * @property {string[]} types endings of names, without the dot; if there are any, only these are handed over, of any size
 * @property {string[]} otherTypes endings that stay with the browser
 * @property {string[]} otherSites hosts that stay with the browser, with all below them
 * @property {string[]} cookieSites hosts whose cookies are sent with their downloads, with all below them
 */

/** @type {Settings} */
export const usual = { isOn: true, leastSize: 1 << 20, types: [], otherTypes: [], otherSites: [], cookieSites: [] };

/** The URL of a text if a service can request it. @param {string} text */
export function webURL(text) {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url : null;
  } catch {
    return null;
  }
}

/** Whether a host is one of these, or below one. @param {string} host @param {string[]} sites */
export const isBelow = (host, sites) => sites.some((site) => host === site || host.endsWith(`.${site}`));

/** What follows the last dot of a file's name, in small letters. @param {string} name */
export function typeOf(name) {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const dot = last.lastIndexOf(".");
  return dot > 0 ? last.slice(dot + 1).toLowerCase() : "";
}

/** The name in a URL. @param {URL} url */
function nameIn(url) {
  const last = url.pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/**
 * A download as the browser describes it.
 * @typedef {{url: string, filename?: string, totalBytes?: number, mime?: string, referrer?: string, incognito?: boolean, byExtensionId?: string, state?: string}} Item
 */

/** Whether a download of the browser is to be handed over. @param {Item} item @param {Settings} settings */
export function isWanted(item, settings) {
  const url = webURL(item.url);
  if (!settings.isOn || !url || item.incognito || item.byExtensionId || (item.state ?? "in_progress") !== "in_progress") return false;
  if (isBelow(url.hostname, settings.otherSites)) return false;
  const type = typeOf(item.filename || nameIn(url));
  if (settings.otherTypes.includes(type)) return false;
  if (settings.types.length > 0) return settings.types.includes(type);
  // What a server does not say is left to the browser.
  return (item.totalBytes ?? -1) >= settings.leastSize;
}

/**
 * Why the service would not get what the browser gets; null if it does. A login page, an expired link or another user's file is
 * seen before the browser gives its own download up.
 * @param {Item} item
 * @param {{total?: number | null, type?: string | null, error?: {message: string, code?: number}}} found by `pawl.check`
 * @returns {"refused" | "different" | null}
 */
export function differenceOf({ totalBytes = -1, mime = "" }, found) {
  if (found.error) return "refused";
  const isPage = (/** @type {string | null | undefined} */ type) => /^text\/html\b/i.test(type ?? "");
  if (isPage(found.type) && !isPage(mime)) return "different";
  if (totalBytes >= 0 && typeof found.total === "number" && found.total !== totalBytes) return "different";
  return null;
}

/** The Referer that a browser sends for a link of a page by default (strict-origin-when-cross-origin). @param {string | undefined} page @param {string} target */
export function refererOf(page, target) {
  const [from, to] = [webURL(page ?? ""), webURL(target)];
  if (!from || !to || from.protocol === "https:" && to.protocol === "http:") return null;
  if (from.origin !== to.origin) return `${from.origin}/`;
  from.username = from.password = from.hash = "";
  return from.href;
}

/** The host whose cookies a download may need: that of the page it is linked on, if its own is below that, else its own. @param {string} target @param {string} [page] */
export function siteOf(target, page) {
  const host = webURL(target)?.hostname ?? "";
  const site = webURL(page ?? "")?.hostname.replace(/^www\./, "") ?? "";
  return site.includes(".") && isBelow(host, [site]) ? site : host.replace(/^www\./, "");
}

/** One header field of cookies; null for none. @param {{name: string, value: string}[]} cookies */
export function cookieField(cookies) {
  const isPlain = (/** @type {string} */ text) => !/[\x00-\x1f\x7f;]/.test(text);
  const pairs = cookies.filter(({ name, value }) => isPlain(name) && isPlain(value)).map(({ name, value }) => (name ? `${name}=${value}` : value));
  return pairs.length > 0 ? `Cookie: ${pairs.join("; ")}` : null;
}

/** The address of a service and the code in a one-time link; null for other text. @param {string} text */
export function parseLink(text) {
  const url = webURL(text.trim());
  const code = /^#code=([\da-f]+)$/.exec(url?.hash ?? "")?.[1];
  return url && code ? { origin: url.origin, code } : null;
}

/** Words of a field of the settings: separated by commas, blanks or lines, without leading dots. @param {string} text */
export const wordsOf = (text) => [...new Set(text.toLowerCase().split(/[\s,]+/).map((word) => word.replace(/^[*.]+/, "")).filter(Boolean))];
