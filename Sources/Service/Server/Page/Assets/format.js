// Localized numbers, sizes and times.

let locale = "en";
/** @type {Map<string, Intl.NumberFormat>} */
let numbers = new Map();
/** @type {Map<string, Intl.DateTimeFormat>} */
let dates = new Map();

/** @param {string} language */
export function useLocale(language) {
  // The browser's region applies if its language is the page's.
  locale = navigator.languages.find((name) => name.split("-")[0] === language.split("-")[0]) ?? language;
  numbers = new Map();
  dates = new Map();
}

/**
 * @param {number} value
 * @param {Intl.NumberFormatOptions} options
 */
function number(value, options) {
  const key = JSON.stringify(options);
  let format = numbers.get(key);
  if (!format) numbers.set(key, (format = new Intl.NumberFormat(locale, options)));
  return format.format(value);
}

/** @param {number} value */
export const count = (value) => number(value, {});

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** Powers of 1024, at least three significant digits, truncated as the command line does: 1 MiB less a byte is no 1.00 MiB. @param {number} bytes */
export function size(bytes) {
  let step = 0;
  let value = bytes;
  while (value >= 1024 && step < units.length - 1) {
    value /= 1024;
    step += 1;
  }
  const digits = step === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  value = Math.floor(value * 10 ** digits + 1e-6) / 10 ** digits;
  return `${number(value, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false })} ${units[step]}`;
}

/** @param {number} bytesPerSecond */
export const speed = (bytesPerSecond) => `${size(bytesPerSecond)}/s`;

/** @param {number} percent 0 to 100, never rounded up to 100 */
export function percent(percent) {
  const shown = percent >= 100 ? 1 : Math.floor(percent * 10) / 1000;
  const digits = percent >= 100 || percent === 0 ? 0 : 1;
  return number(shown, { style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const spans = /** @type {const} */ ([["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]]);

/** Units as software writes them in little room, where those of the browser are English or long. @type {Record<string, Record<string, string>>} */
const shortUnits = {
  de: { day: " T", hour: " h", minute: " min", second: " s" },
  ja: { day: "日", hour: "時間", minute: "分", second: "秒" },
  pt: { day: "d", hour: "h", minute: "min", second: "s" },
  zh: { day: "天", hour: "时", minute: "分", second: "秒" },
};

/** The two largest units. @param {number} seconds */
export function duration(seconds) {
  const names = shortUnits[locale.split("-")[0]];
  let rest = Math.max(0, Math.round(seconds));
  const parts = [];
  for (const [unit, length] of spans) {
    const value = Math.floor(rest / length);
    rest -= value * length;
    if (value > 0 || (unit === "second" && parts.length === 0)) {
      parts.push(names ? count(value) + names[unit] : number(value, { style: "unit", unit, unitDisplay: "narrow" }));
    } else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(names && !/\w$/.test(names.second) ? "" : " ");
}

/** Seconds that something lasted: none at all is less than one. @param {number} seconds */
export const took = (seconds) => (seconds < 1 ? `< ${duration(1)}` : duration(seconds));

/** The range of Date; other values have no text. */
const farthest = 8.64e12;

/**
 * @param {number} seconds since 1970
 * @param {Intl.DateTimeFormatOptions} options
 */
function date(seconds, options) {
  const key = JSON.stringify(options);
  let format = dates.get(key);
  if (!format) dates.set(key, (format = new Intl.DateTimeFormat(locale, options)));
  return Math.abs(seconds) <= farthest ? format.format(seconds * 1000) : "";
}

/** @param {number} seconds since 1970 */
export const moment = (seconds) => date(seconds, { dateStyle: "medium", timeStyle: "medium" });

/** @param {number} seconds since 1970 */
export const clock = (seconds) => date(seconds, { timeStyle: "medium" });

/** A time in the next days: of today, the hour and minute are enough. @param {number} seconds since 1970 */
export function near(seconds) {
  const isToday = new Date(seconds * 1000).toDateString() === new Date().toDateString();
  return date(seconds, isToday ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

/** The time if it is today, else the day. @param {number} seconds since 1970 */
export function when(seconds) {
  const isToday = new Date(seconds * 1000).toDateString() === new Date().toDateString();
  return isToday ? date(seconds, { timeStyle: "short" }) : date(seconds, { dateStyle: "medium" });
}

/**
 * Parses bytes per second: 500K, 1.5M, 2 MiB/s; null if empty, undefined if invalid.
 * @param {string} text
 */
export function parseRate(text) {
  const word = text.trim().toLowerCase();
  if (word === "" || word === "0" || word === "none") return null;
  const found = /^(\d+(?:[.,]\d+)?)\s*([kmg]?)i?b?(?:\/s)?$/.exec(word);
  if (!found) return undefined;
  const power = { "": 0, k: 1, m: 2, g: 3 }[found[2]] ?? 0;
  const rate = Math.round(parseFloat(found[1].replace(",", ".")) * 1024 ** power);
  return rate > 0 && Number.isSafeInteger(rate) ? rate : undefined;
}

/** A rate as text that can be parsed again. @param {number | null | undefined} rate */
export function rateText(rate) {
  if (!rate) return "";
  for (const [mark, power] of /** @type {const} */ ([["G", 3], ["M", 2], ["K", 1]])) {
    const value = rate / 1024 ** power;
    if (value >= 1 && Number.isInteger(value * 100)) return `${value}${mark}`;
  }
  return String(rate);
}
