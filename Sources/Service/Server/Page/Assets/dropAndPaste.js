// Extracts URLs from pasted and dropped content.

import { rest } from "./rest.js";

const largestList = 4 << 20;
/** The service takes messages of 2 MiB; in Base64 a third is added. */
const largestSent = 1_400_000;

/**
 * What was dropped or pasted.
 * @typedef {import("./addresses.js").Intake & {items: Item[], torrents: import("./torrent.js").Torrent[], problems: any[]}} Found
 * @typedef {{url: string, mirrors: string[], options: Record<string, any>, folder: string | null, pieces: string | null}} Item a download
 * @typedef {{call: (method: string, ...parameters: any[]) => Promise<any>}} Caller
 */

/** Whether text may be more than URLs, which the service decides: commands, a list with options, or a Metalink. @param {string} text */
export const isMore = (text) =>
  /(?:^|[\s`>/\\])(?:curl|wget|aria2c)(?:\.exe)?[ \t]/i.test(text) || /\n[ \t]+[\w-]+=/.test(text) || /<metalink[\s>]/.test(text);

/**
 * Text and files as URLs and downloads; the service recognizes what they are.
 * @param {Caller} connection
 * @param {{name: string, bytes: Uint8Array}[]} files
 * @param {string} text
 * @returns {Promise<Found>}
 */
async function recognized(connection, files, text) {
  const texts = [text];
  const [items, torrents, problems] = [[], [], []];
  for (const { name, bytes } of files) {
    if (bytes.length > largestSent) {
      texts.push(new TextDecoder().decode(bytes));
      continue;
    }
    try {
      const found = await connection.call("pawl.read", { name, content: base64(bytes) });
      if (found.error) problems.push(found.error);
      else if (found.items) items.push(...found.items);
      else if (found.torrent) torrents.push(found.torrent);
      else texts.push(found.text);
    } catch (error) {
      problems.push(error);
    }
  }
  const { intake } = await rest();
  return { ...intake(texts.join("\n")), items, torrents, problems };
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  let text = "";
  for (let start = 0; start < bytes.length; start += 8192) text += String.fromCharCode(...bytes.subarray(start, start + 8192));
  return btoa(text);
}

/**
 * What a pasted text means.
 * @param {Caller} connection
 * @param {string} text
 * @returns {Promise<Found>}
 */
export const pasted = (connection, text) =>
  isMore(text) ? recognized(connection, [{ name: text.trim().slice(0, 40), bytes: new TextEncoder().encode(text) }], "") : recognized(connection, [], text);

/** @param {Caller} connection @param {DataTransfer} transfer */
async function dropped(connection, transfer) {
  const text = [transfer.getData("text/uri-list"), transfer.getData("text/plain")].join("\n");
  return isMore(text) ? pasted(connection, text) : readFiles(connection, [...transfer.files], text);
}

/** What files mean. @param {Caller} connection @param {File[]} files @param {string} [text] */
export async function readFiles(connection, files, text = "") {
  const contents = files.map(async (file) => ({
    // Of a large one the beginning shows what it is.
    name: file.name, bytes: new Uint8Array(await file.slice(0, largestList).arrayBuffer()),
  }));
  return recognized(connection, await Promise.all(contents), text);
}

/**
 * Listens for pastes and drops anywhere on the page.
 * @param {HTMLElement} landing is shown while something is dragged over the page
 * @param {Caller} connection
 * @param {(found: Found) => void} take
 */
export function listenForAddresses(landing, connection, take) {
  document.addEventListener("paste", async (event) => {
    const { target } = event;
    if (target instanceof HTMLElement && target.closest("input, textarea, dialog")) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.trim()) take(await pasted(connection, text));
  });
  const isForUs = (/** @type {DragEvent} */ event) =>
    event.dataTransfer?.types.some((type) => type === "Files" || type === "text/uri-list" || type === "text/plain") &&
    !event.dataTransfer.types.includes("application/x-pawl");
  document.addEventListener("dragover", (event) => {
    if (!isForUs(event)) return;
    event.preventDefault();
    landing.hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) landing.hidden = true;
  });
  document.addEventListener("drop", async (event) => {
    landing.hidden = true;
    if (!isForUs(event) || !event.dataTransfer) return;
    event.preventDefault();
    take(await dropped(connection, event.dataTransfer));
  });
}
