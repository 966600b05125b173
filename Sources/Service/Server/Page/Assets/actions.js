// Actions on downloads.

import { isCollection, nameOf, partOf } from "./queue.js";
import { discarded } from "./commands.js";
import * as format from "./format.js";
import { rest } from "./rest.js";
import { textOf, words } from "./words.js";

/** Seconds in which a removal can be undone; the service waits longer, so that a late undo still works. */
const grace = 8;
const graceOfService = grace + 4;

/** @typedef {import("./queue.js").Row} Row */

/** Whether resuming all includes it. @param {import("./queue.js").Row} row */
const mayResume = (row) => ["paused", "failed"].includes(partOf(row));

export class Actions {
  /**
   * @param {import("./connection.js").Connection} connection
   * @param {import("./queue.js").Queue} queue
   * @param {import("./view.js").View} view
   * @param {import("./toasts.js").Toasts} toasts
   */
  constructor(connection, queue, view, toasts) {
    this.connection = connection;
    this.queue = queue;
    this.view = view;
    this.toasts = toasts;
    /** Removals that can be undone, the latest last. @type {{ids: string[], toast: {close: () => void}}[]} */
    this.removals = [];
  }

  /** Opens the details of a download; set by the page. @type {(id: string) => void} */
  showDetails = () => {};

  /** Calls the service, and shows the error of a refusal. @param {string} method @param {...any} parameters */
  async call(method, ...parameters) {
    try {
      return await this.connection.call(method, ...parameters);
    } catch (error) {
      this.toasts.show(textOf(error), { isError: true });
      return undefined;
    }
  }

  /** @param {string[]} ids */
  rowsOf(ids) {
    return ids.map((id) => this.queue.rows.get(id)).filter((row) => row !== undefined);
  }

  /** Performs the button's action for each. @param {string[]} ids */
  toggle(ids) {
    const rows = this.rowsOf(ids);
    const pausing = rows.filter((row) => row.toggle === "pause");
    // If their actions differ, all get the same one.
    if (pausing.length > 0) this.pause(idsOf(pausing));
    else this.resume(idsOf(rows.filter((row) => row.toggle !== "done")));
  }

  /** @param {string[]} ids */
  pause(ids) {
    if (ids.length > 0) this.call("pawl.pause", ids);
  }

  /** Resumes paused downloads, retries failed ones, and downloads missing files again. @param {string[]} ids */
  resume(ids) {
    if (ids.length > 0) this.call("pawl.resume", ids);
  }

  /** Ends the wait for the next attempt. @param {string[]} ids */
  tryNow(ids) {
    this.resume(idsOf(this.rowsOf(ids).filter((row) => row.retryIn !== undefined)));
  }

  /** @param {string[]} ids */
  force(ids) {
    const able = this.rowsOf(ids).filter((row) => !isCollection(row) && partOf(row) !== "finished" && partOf(row) !== "running");
    if (able.length > 0) this.call("pawl.start", idsOf(able));
  }

  /** Removes the finished downloads from the list; their files stay. */
  clearFinished() {
    const ids = idsOf([...this.queue.rows.values()].filter((row) => partOf(row) === "finished"));
    if (ids.length > 0) this.remove(ids, true);
  }

  /** URLs that were in the queue already. @param {string[]} ids @param {boolean} isFinished */
  tellDuplicates(ids, isFinished) {
    const [first] = this.rowsOf(ids);
    const name = first ? nameOf(first) : "";
    const text = ids.length > 1 ? words.knownMany(ids.length) : isFinished ? words.knownFinished(name) : words.known(name);
    const toast = this.toasts.show(text, {
      seconds: 8,
      action: { text: words.show, run: () => (toast.close(), this.showDetails(ids[0])) },
    });
  }

  /** Removes downloads; asks before it discards what was received. @param {string[]} ids @param {boolean} keepsFile keeps finished files */
  async remove(ids, keepsFile) {
    const rows = this.rowsOf(ids);
    if (rows.length === 0) return;
    const bytes = discarded(rows);
    if (bytes > 0) {
      const [size, name] = [format.size(bytes), rows.length === 1 ? nameOf(rows[0]) : null];
      const question = { title: words.removeQuestion(rows.length), text: words.discards(size, name), button: words.removeDiscarding(size) };
      if (!(await (await rest()).confirm(question))) return;
    }
    this.#stepAside(ids);
    // A collection is gone at once; its complete files stay.
    const whole = idsOf(rows.filter(isCollection));
    if (whole.length > 0) {
      if ((await this.call("pawl.remove", whole)) === undefined) return;
      this.toasts.show(words.removedMany(whole.length));
      const others = ids.filter((id) => !whole.includes(id));
      if (others.length > 0) await this.remove(others, keepsFile);
      return;
    }
    if ((await this.call("pawl.remove", ids, { keepFile: keepsFile, grace: graceOfService })) === undefined) return;
    const text = rows.length === 1 ? words.removed(nameOf(rows[0])) : words.removedMany(rows.length);
    const removal = {
      ids,
      toast: this.toasts.show(text, {
        seconds: grace,
        action: { text: words.undo, run: () => this.#restore(removal) },
        onclose: () => (this.removals = this.removals.filter((other) => other !== removal)),
      }),
    };
    this.removals.push(removal);
  }

  /** Moves the keyboard focus to a row that stays. @param {string[]} ids */
  #stepAside(ids) {
    const leaving = new Set(ids);
    const { rows } = this.view;
    const from = this.view.indexOf(this.view.current);
    const next = rows.slice(from + 1).find((row) => !leaving.has(row.id));
    const neighbour = next ?? rows.slice(0, Math.max(0, from)).findLast((row) => !leaving.has(row.id));
    if (neighbour) this.view.choose(neighbour.id);
  }

  undo() {
    const removal = this.removals.at(-1);
    if (removal) this.#restore(removal);
  }

  /** @param {{ids: string[], toast: {close: () => void}}} removal */
  async #restore(removal) {
    removal.toast.close();
    try {
      const result = await this.connection.call("pawl.restore", removal.ids);
      if (!Object.values(result).includes(false)) return;
      this.toasts.show(words.tooLate, { isError: true });
    } catch (error) {
      // Removed downloads are no longer known.
      const isOffline = /** @type {Error} */ (error).message === "offline";
      this.toasts.show(isOffline ? words.notConnected : words.tooLate, { isError: true });
    }
  }

  // MARK: many at once

  /** The action for all downloads, or those of the current group; null if there is none. */
  get wholeToggle() {
    const { group } = this.view;
    if (group !== null && this.pausedGroups.includes(group)) return "continue";
    const rows = this.#whole;
    if (rows.some((row) => row.toggle === "pause" && !row.isHeld)) return "pause";
    return rows.some((row) => row.isHeld || mayResume(row)) ? "continue" : null;
  }

  get #whole() {
    const { group } = this.view;
    return [...this.queue.rows.values()].filter((row) => group === null || row.group === group);
  }

  get pausedGroups() {
    return this.queue.status.pausedGroups ?? [];
  }

  toggleWhole() {
    const { group } = this.view;
    const toggle = this.wholeToggle;
    if (toggle === null) return;
    if (toggle === "pause") {
      if (group === null) this.call("pawl.pauseAll");
      else this.call("pawl.pauseGroup", group);
      return;
    }
    const paused = this.pausedGroups.filter((other) => group === null || other === group);
    for (const other of paused) this.call(this.queue.rows.has(other) ? "pawl.resume" : "pawl.resumeGroup", other);
    // A download paused individually stays paused when its group is resumed.
    if (group === null || paused.length === 0) this.resume(idsOf(this.#whole.filter(mayResume)));
  }

  // MARK: export and import

  /** Saves the unfinished downloads as a file. */
  async exportQueue() {
    const items = await this.call("pawl.export");
    if (!items) return;
    const url = URL.createObjectURL(new Blob([JSON.stringify(items, null, 2)], { type: "application/json" }));
    const link = document.createElement("a");
    Object.assign(link, { href: url, download: "pawl-queue.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }

  /** Adds the downloads of an exported file. @param {File} file */
  async importQueue(file) {
    let items;
    try {
      items = JSON.parse(await file.text());
    } catch {
      items = null;
    }
    if (!Array.isArray(items)) {
      this.toasts.show(words.notAQueue(file.name), { isError: true });
      return;
    }
    const known = new Set(this.queue.rows.keys());
    const portion = 200;
    /** @type {{id?: string, error?: import("./queue.js").Failure}[]} */
    const results = [];
    for (let start = 0; start < items.length; start += portion) {
      const some = await this.call("pawl.add", items.slice(start, start + portion));
      if (!some) break;
      results.push(...some);
    }
    const ids = results.flatMap(({ id }) => id ?? []);
    const added = ids.filter((id) => !known.has(id));
    const failure = results.find(({ error }) => error)?.error;
    this.toasts.show(words.imported(added.length, ids.length - added.length));
    if (failure) this.toasts.show(words.failure(failure), { isError: true });
  }

  // MARK: queue

  /** Whether rows can be moved: in a list that is sorted they cannot, which is reported. */
  get canMove() {
    if (this.view.isInQueueOrder) return true;
    const toast = this.toasts.show(words.cannotMove, {
      seconds: 8, action: { text: words.orders.queue, run: () => (toast.close(), this.view.sort("queue")) },
    });
    return false;
  }

  /** Moves the selected rows by a number of positions. @param {number} steps */
  async moveBy(steps) {
    if (!this.canMove) return;
    const line = idsOf(this.queue.line());
    const moving = line.filter((id) => this.view.chosen.has(id));
    if (steps > 0) moving.reverse();
    for (const id of moving) {
      const index = line.indexOf(id) + steps;
      if (index < 0 || index >= line.length) return;
      line.splice(line.indexOf(id), 1);
      line.splice(index, 0, id);
      await this.call("pawl.move", id, index);
    }
  }

  /** Moves them to the first or last position that their priority permits. @param {boolean} toEnd */
  async moveToEdge(toEnd) {
    if (!this.canMove) return;
    const moving = this.queue.line().filter((row) => this.view.chosen.has(row.id));
    if (!toEnd) moving.reverse();
    for (const row of moving) await this.call("pawl.move", row.id, toEnd ? this.queue.rows.size : 0);
  }

  /** Moves the selected rows before or after another. @param {string} id @param {boolean} isAfter */
  async moveBeside(id, isAfter) {
    const line = idsOf(this.queue.line());
    const moving = line.filter((other) => this.view.chosen.has(other) && other !== id);
    const staying = line.filter((other) => !moving.includes(other));
    // Next to a running download means the head of the queue.
    let previous = staying[staying.indexOf(id) - (isAfter ? 0 : 1)];
    for (const other of moving) {
      line.splice(line.indexOf(other), 1);
      const index = line.indexOf(previous) + 1;
      line.splice(index, 0, other);
      await this.call("pawl.move", other, index);
      previous = other;
    }
  }

  // MARK: single downloads

  /** @param {Row} row */
  async rename(row) {
    await (await rest()).ask({
      title: words.rename, label: words.newName, value: nameOf(row), selectsStem: true,
      submit: (name) => this.#try(words.renameFailure, "pawl.rename", row.id, name),
    });
  }

  /**
   * What is wrong with what was entered, in the page's words; "" if the service takes it.
   * @param {(failure: import("./queue.js").Failure) => string} describe
   * @param {string} method
   * @param {...any} parameters
   */
  async #try(describe, method, ...parameters) {
    try {
      await this.connection.call(method, ...parameters);
      return "";
    } catch (error) {
      return textOf(error, describe);
    }
  }

  /** @param {Row} row */
  async replaceURL(row) {
    const value = (await this.call("pawl.source", row.id)) ?? "";
    const url = await (await rest()).ask({
      title: words.replaceURL, label: words.newURL, value, hint: words.replaceURLHint, type: "url",
      submit: (url) => this.#try(words.failure, "pawl.url", row.id, url),
    });
    if (url !== null && row.error) this.resume([row.id]);
  }

  /** @param {Row} row @param {"folder"} [part] the field that gets the focus */
  async edit(row, part) {
    (await rest()).openEditing(this, row, part);
  }

  /** Downloads from the beginning: asks before it discards what was received. @param {Row} row */
  async startOver(row) {
    const size = format.size(discarded([row]));
    const question = { title: words.startOverQuestion(nameOf(row)), text: words.discards(size, nameOf(row)), button: words.toolbar.startOver };
    if (discarded([row]) > 0 && !(await (await rest()).confirm(question))) return;
    await this.call("pawl.startOver", [row.id]);
  }

  /** @param {Row} row */
  async signIn(row) {
    (await rest()).openSignIn(this, row);
  }

  /** Compares the file with its digests; a wrong one can be repaired. @param {Row} row */
  async check(row) {
    const running = this.toasts.show(words.checkingFile(nameOf(row)), { seconds: 3600 });
    const result = await this.call("pawl.verify", row.id);
    running.close();
    if (!result) return;
    const compared = result.digests.map((/** @type {{algorithm: string, level: string}} */ digest) =>
      `${digest.algorithm} (${words.verified[digest.level] ?? digest.level})`);
    if (result.pieces > 0) compared.push(words.checkedPieces(result.pieces, result.wrongPieces));
    if (result.right) {
      this.toasts.show(words.fileIsRight(nameOf(row), compared.join(", ")));
      return;
    }
    const toast = this.toasts.show(words.fileIsWrong(nameOf(row), compared.join(", ")), {
      isError: true, seconds: 30,
      action: { text: words.repairFile, run: () => { toast.close(); this.call("pawl.repair", row.id); } },
    });
  }

  /** @param {Row} row @param {number | null} rate */
  limit(row, rate) {
    this.call("pawl.limit", rate, row.id);
  }

  /** @param {string[]} ids @param {number} step */
  async prioritise(ids, step) {
    for (const row of this.rowsOf(ids).filter((row) => !isCollection(row))) await this.call("pawl.priority", row.id, (row.priority ?? 0) + step);
  }

  /** @param {string[]} ids */
  async copyURLs(ids) {
    const urls = [];
    for (const id of ids) {
      const url = await this.call("pawl.source", id);
      if (url) urls.push(url);
    }
    if (urls.length === 0) return;
    try {
      await navigator.clipboard.writeText(urls.join("\n"));
      this.toasts.show(words.copied(urls.length));
    } catch {
      this.toasts.show(words.cannotCopy, { isError: true });
    }
  }

  /** @param {Row} row @param {boolean} saves */
  open(row, saves = false) {
    if (partOf(row) === "finished") window.open(`/files/${row.id}${saves ? "?save" : ""}`, "_blank", "noopener");
  }
}

/** @param {Row[]} rows */
const idsOf = (rows) => rows.map((row) => row.id);
