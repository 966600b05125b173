// Extracts URLs from pasted and dropped content.

import { rest } from "./rest.js";

const largestList = 4 << 20;

/**
 * The URLs of a drop: links, or text files with links.
 * @param {DataTransfer} transfer
 * @returns {Promise<import("./addresses.js").Intake>}
 */
async function addressesDropped(transfer) {
  const texts = [transfer.getData("text/uri-list"), transfer.getData("text/plain")];
  for (const file of [...transfer.files]) {
    if (file.size <= largestList) texts.push(await file.text());
  }
  const { intake } = await rest();
  return intake(texts.join("\n"));
}

/**
 * Listens for pastes and drops anywhere on the page.
 * @param {HTMLElement} landing is shown while something is dragged over the page
 * @param {(found: import("./addresses.js").Intake) => void} take
 */
export function listenForAddresses(landing, take) {
  document.addEventListener("paste", async (event) => {
    const { target } = event;
    if (target instanceof HTMLElement && target.closest("input, textarea, dialog")) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.trim()) take((await rest()).intake(text));
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
    take(await addressesDropped(event.dataTransfer));
  });
}
