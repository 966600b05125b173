// The columns of the list: which there are, which fit, and which the user wants.

import { keep, setting } from "./preferences.js";

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {number} width in pixels
 * @property {string} [order] the order that its head selects, if it is not the name
 */

/** In their order. @type {Column[]} */
export const columns = [
  { name: "progress", width: 150 },
  { name: "state", width: 148 },
  { name: "size", width: 148 },
  { name: "speed", width: 92 },
  { name: "left", width: 88, order: "timeLeft" },
  { name: "mean", width: 92 },
  { name: "ended", width: 116 },
  { name: "connections", width: 100 },
  { name: "added", width: 116 },
];

/** The most important first: one for which the others leave no room is left out. */
const ranks = ["progress", "left", "ended", "size", "speed", "mean", "state", "connections", "added"];

const usual = ["progress", "state", "size", "speed", "left", "connections", "added"];
/** In parts of the queue whose downloads have no speed. @type {Record<string, string[]>} */
const usualOf = {
  finished: ["size", "mean", "ended", "added"],
  failed: ["progress", "size", "added"],
  waiting: ["progress", "state", "size", "added"],
  paused: ["progress", "state", "size", "added"],
};

/** The setting with the columns of a part of the queue. @param {string} part */
const keyOf = (part) => (part in usualOf ? `columns.${part}` : "columns");

/** The columns that the user chose for a part of the queue, else those of all; null for the usual ones. @param {string} part */
function chosen(part) {
  const names = (setting(keyOf(part)) ?? setting("columns"))?.split(" ");
  return names ? columns.map(({ name }) => name).filter((name) => names.includes(name)) : null;
}

/** @param {string} part the part of the queue that is shown */
export const wanted = (part) => chosen(part) ?? usualOf[part] ?? usual;

/** @param {string} part @param {string} name @param {boolean} isOn */
export function want(part, name, isOn) {
  const names = new Set(wanted(part));
  if (isOn) names.add(name);
  else names.delete(name);
  const all = columns.map((column) => column.name).filter((other) => names.has(other));
  const isUsual = all.join(" ") === (usualOf[part] ?? usual).join(" ") && (part in usualOf ? setting("columns") === null : true);
  keep(keyOf(part), isUsual ? null : all.join(" "));
}

const gap = 12;
/** The width that names keep, in pixels; beside columns that matter less than names, more. */
const leastName = 220;
const usualName = 320;
const lesser = ranks.slice(ranks.indexOf("state"));

/** Those that fit. @param {number} room the width of the list in pixels @param {string} part */
export function fitting(room, part) {
  const names = wanted(part);
  // Padding, the button, the name, and the button for details.
  let rest = room - 24 - 44 - gap - 32 - gap - leastName;
  const shown = new Set();
  for (const name of ranks.filter((other) => names.includes(other))) {
    const width = (columns.find((other) => other.name === name)?.width ?? 0) + gap;
    if (width > rest - (lesser.includes(name) ? usualName - leastName : 0)) continue;
    rest -= width;
    shown.add(name);
  }
  return columns.filter(({ name }) => shown.has(name));
}

/** For `grid-template-columns`. @param {Column[]} shown */
export const template = (shown) =>
  ["44px", "minmax(0, 1fr)", ...shown.map(({ width }) => `${width}px`), "32px"].join(" ");
