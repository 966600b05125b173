// Hands downloads of the browser over to the service.

import { cookieField, differenceOf, isBelow, isWanted, refererOf, siteOf, webURL } from "./rules.js";
import { Service, Unreachable } from "./service.js";
import { note, notices, recent, remember, settings } from "./state.js";

/** Chromium waits 15 seconds for a name, then goes on by itself. */
const patience = 10_000;

/** @typedef {import("./rules.js").Item} Item */

// Chromium asks before the file gets its name: until then its download can still be taken. Firefox says that one was created.
if (chrome.downloads.onDeterminingFilename) {
  chrome.downloads.onDeterminingFilename.addListener((item, suggest) => {
    take(item).then((isTaken) => isTaken || suggest(), () => suggest());
    return true;
  });
} else {
  chrome.downloads.onCreated.addListener((item) => void take(item));
}

/** Whether a download was handed over, and has ended in the browser. @param {chrome.downloads.DownloadItem} item */
async function take(item) {
  if (!isWanted(item, await settings())) return false;
  const service = await Service.stored();
  if (!service) return false;
  const isPaused = await chrome.downloads.pause(item.id).then(() => true, () => false);
  if (!(await handOver(service, item))) {
    if (isPaused) await chrome.downloads.resume(item.id).catch(() => {});
    return false;
  }
  await chrome.downloads.cancel(item.id).catch(() => {});
  await chrome.downloads.erase({ id: item.id });
  return true;
}

/**
 * Adds a download if the service gets the same file as the browser; else it stays where it is, and the popup says why.
 * @param {Service} service
 * @param {Item} item
 */
async function handOver(service, item) {
  try {
    const options = await optionsOf(item.url, item.referrer);
    const found = await service.call("pawl.check", [{ url: item.url, options }], patience);
    const difference = differenceOf(item, found);
    if (difference) {
      await keep(item, difference, found.error?.message ?? "");
      return false;
    }
    await add(service, item.url, options);
    return true;
  } catch (error) {
    await keep(item, error instanceof Unreachable ? "unreachable" : "refused", error instanceof Error ? error.message : String(error));
    return false;
  }
}

/** @param {Item} item @param {"refused" | "different" | "unreachable"} why @param {string} text */
async function keep({ url, filename = "", referrer = "" }, why, text) {
  const name = filename.split(/[/\\]/).at(-1) || webURL(url)?.pathname.split("/").at(-1) || url;
  await note({ url, referrer, name, site: siteOf(url, referrer), why, text });
  await chrome.action.setBadgeText({ text: "!" });
}

/** What the service needs to get the same: the page, the browser's name, and cookies of sites for which the user agreed. @param {string} url @param {string | undefined} page */
async function optionsOf(url, page) {
  const referer = refererOf(page, url);
  const field = await cookiesOf(url);
  return { "user-agent": navigator.userAgent, ...(referer ? { referer } : {}), ...(field ? { header: [field] } : {}) };
}

/** @param {string} url */
async function cookiesOf(url) {
  const { cookieSites } = await settings();
  if (!chrome.cookies || !isBelow(webURL(url)?.hostname ?? "", cookieSites)) return null;
  return cookieField(await chrome.cookies.getAll({ url }).catch(() => []));
}

/** @param {Service} service @param {string} url @param {Record<string, any>} options */
async function add(service, url, options) {
  const [result] = await service.call("pawl.add", [[{ url, options }]]);
  if (result.error) throw new Error(result.error.message);
  await remember(result.id);
  follow();
}

// MARK: the menu of links

chrome.runtime.onInstalled.addListener(() => {
  chrome.contextMenus.create({ id: "download", title: chrome.i18n.getMessage("downloadLink"), contexts: ["link", "image", "video", "audio"] });
});

chrome.contextMenus.onClicked.addListener(async ({ linkUrl, srcUrl, pageUrl, frameUrl }) => {
  const url = linkUrl ?? srcUrl ?? "";
  const page = frameUrl ?? pageUrl;
  const service = await Service.stored();
  if (!webURL(url)) return;
  if (!service) return void chrome.runtime.openOptionsPage();
  try {
    await add(service, url, await optionsOf(url, page));
  } catch (error) {
    await keep({ url, referrer: page }, error instanceof Unreachable ? "unreachable" : "refused", error instanceof Error ? error.message : String(error));
  }
});

// MARK: progress

let isFollowing = false;

/** Shows how many of the downloads that were handed over are under way, until none is. */
async function follow() {
  if (isFollowing) return;
  isFollowing = true;
  try {
    for (;;) {
      const service = await Service.stored();
      const ids = await recent();
      if (!service || ids.length === 0) break;
      const rows = await service.calls(ids.map((id) => ["pawl.show", [id]]));
      const running = rows.filter((row) => !(row instanceof Error) && !["finished", "failed", "removed"].includes(row.state));
      const total = running.reduce((sum, row) => sum + (row.total ?? 0), 0);
      const written = running.reduce((sum, row) => sum + (row.total ? row.written ?? 0 : 0), 0);
      const idle = (await notices()).length > 0 ? "!" : "";
      const text = running.length === 0 ? idle : total > 0 ? `${Math.floor((100 * written) / total)}%` : String(running.length);
      await chrome.action.setBadgeText({ text });
      if (running.length === 0) break;
      await new Promise((done) => setTimeout(done, 2000));
    }
  } catch {
    await chrome.action.setBadgeText({ text: "" });
  }
  isFollowing = false;
}

// After the worker was ended in between.
follow();
