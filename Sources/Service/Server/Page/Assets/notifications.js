// Notifications of the browser when downloads finish or fail.

import { nameOf } from "./queue.js";
import { keep, setting } from "./preferences.js";
import { words } from "./words.js";

/** Whether the browser can notify: only pages with TLS, or of this machine. */
export const canNotify = () => "Notification" in globalThis && isSecureContext;

export const notifies = () => canNotify() && setting("notify") === "yes" && Notification.permission === "granted";

/** Asks the user for the permission; whether it was granted. */
export async function turnOn() {
  const isGranted = (await Notification.requestPermission()) === "granted";
  keep("notify", isGranted ? "yes" : null);
  return isGranted;
}

export const turnOff = () => keep("notify", null);

/** @param {import("./queue.js").Queue} queue @param {(id: string) => void} open */
export function notifyOf(queue, open) {
  /** @type {Map<string, string> | null} */
  let before = null;
  queue.addEventListener("change", () => {
    if (!queue.isReady) return;
    const now = new Map([...queue.rows.values()].map((row) => [row.id, row.state]));
    if (before !== null && notifies() && !document.hasFocus()) {
      const ended = [...queue.rows.values()].filter(({ id, state }) =>
        (state === "finished" || state === "failed") && before?.has(id) && before.get(id) !== state);
      if (ended.length > 0) show(ended, open);
    }
    before = now;
  });
}

/** @param {import("./queue.js").Row[]} rows @param {(id: string) => void} open */
function show(rows, open) {
  const failed = rows.filter(({ state }) => state === "failed");
  const [first] = failed.length > 0 ? failed : rows;
  const title = rows.length > 1 ? words.endedMany(rows.length - failed.length, failed.length)
    : failed.length > 0 ? words.failedOne(nameOf(first)) : words.finishedOne(nameOf(first));
  const notification = new Notification(title, {
    body: first.error ? words.reason(first.error) : "", icon: "icon.svg", tag: rows.length > 1 ? "pawl" : first.id,
  });
  notification.onclick = () => {
    window.focus();
    open(first.id);
    notification.close();
  };
}
