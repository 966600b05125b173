// Banners: service unavailable, schedule that pauses, no network, disks that downloads wait for, low disk space.

import { at, make } from "./dom.js";
import * as format from "./format.js";
import { icon } from "./icons.js";
import { awaitedBy } from "./queue.js";
import { words } from "./words.js";

/** Free bytes below which the disk counts as nearly full. */
const littleRoom = 512 << 20;

/**
 * @param {import("./connection.js").Connection} connection
 * @param {import("./queue.js").Queue} queue
 */
export function showBanners(connection, queue) {
  const box = at("banners");
  const [service, schedule, network, disk] = [0, 1, 2, 3].map(() => make("div", { class: "banner", hidden: true }));
  box.append(service, schedule, network, disk);
  let due = 0;
  let timer = 0;

  const showService = () => {
    const seconds = Math.ceil((due - performance.now()) / 1000);
    fill(service, "offline", words.serviceGone, seconds > 0 ? words.tryingIn(seconds) : words.trying);
    service.append(
      make("button", { type: "button", class: "banner-button", onclick: () => connection.retry() }, words.tryNow),
    );
  };
  connection.addEventListener("lost", (event) => {
    due = performance.now() + /** @type {CustomEvent} */ (event).detail;
    clearInterval(timer);
    timer = setInterval(showService, 1000);
    showService();
    document.body.classList.add("is-offline");
  });
  connection.addEventListener("open", () => {
    clearInterval(timer);
    service.hidden = true;
    document.body.classList.remove("is-offline");
  });
  queue.addEventListener("change", () => {
    let waiting = 0;
    let stalled = 0;
    /** @type {Set<string | undefined>} */
    const awaited = new Set();
    for (const { state, error } of queue.rows.values()) {
      waiting += state === "waitingForNetwork" ? 1 : 0;
      if (state !== "waitingForDisk") continue;
      stalled += 1;
      awaited.add(awaitedBy(error));
    }
    if (waiting > 0) fill(network, "offline", words.networkGone(waiting));
    network.hidden = waiting === 0;
    const { free, isPaused, pausedUntil } = queue.status;
    if (isPaused) fill(schedule, "pause", words.pausedBySchedule(pausedUntil ? format.near(pausedUntil) : ""));
    schedule.hidden = !isPaused;
    const isLow = typeof free === "number" && free < littleRoom;
    if (stalled > 0) fill(disk, "warning", words.diskWaits(stalled, awaited.size === 1 ? [...awaited][0] : undefined));
    else if (isLow) fill(disk, "warning", words.diskLow(format.size(free)));
    disk.hidden = !isLow && stalled === 0;
  });
}

/** @param {HTMLElement} banner @param {import("./icons.js").Icon} picture @param {...string} texts */
function fill(banner, picture, ...texts) {
  banner.hidden = false;
  const text = texts.join(" ");
  if (banner.dataset.text === text && banner.childElementCount === 2) return;
  banner.dataset.text = text;
  banner.replaceChildren(icon(picture), make("span", {}, text));
}
