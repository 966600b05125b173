// What is kept: settings in the profile, what happened until the browser ends in memory.

import { usual } from "./rules.js";

/** @returns {Promise<import("./rules.js").Settings>} */
export async function settings() {
  const { settings: kept } = await chrome.storage.local.get("settings");
  return { ...usual, ...kept };
}

/** @param {Partial<import("./rules.js").Settings>} change */
export const change = (change) =>
  navigator.locks.request("settings", async () => chrome.storage.local.set({ settings: { ...(await settings()), ...change } }));

/**
 * A download that stayed with the browser although it was wanted.
 * @typedef {{url: string, referrer: string, name: string, site: string, why: "refused" | "different" | "unreachable", text: string}} Notice
 */

const most = 8;

/** The downloads that were handed over last, the latest first. @returns {Promise<string[]>} */
export const recent = async () => (await chrome.storage.session.get("recent")).recent ?? [];

/** @returns {Promise<Notice[]>} */
export const notices = async () => (await chrome.storage.session.get("notices")).notices ?? [];

/** One change of a list after another: popup and background make them side by side. @param {string} name @param {(list: any[]) => any[]} body */
const edit = (name, body) =>
  navigator.locks.request(name, async () => chrome.storage.session.set({ [name]: body((await chrome.storage.session.get(name))[name] ?? []) }));

/** @param {string} id */
export const remember = (id) => edit("recent", (ids) => [id, ...ids.filter((other) => other !== id)].slice(0, most));

/** @param {Notice} notice */
export const note = (notice) => edit("notices", (all) => [notice, ...all.filter(({ url }) => url !== notice.url)].slice(0, most));

/** @param {(notice: Notice) => boolean} isOver */
export const forget = (isOver) => edit("notices", (all) => all.filter((notice) => !isOver(notice)));
