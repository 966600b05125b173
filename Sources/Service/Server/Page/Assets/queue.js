// The downloads as sent by the service.

/**
 * @typedef {object} Row
 * @property {string} id
 * @property {string} url secrets redacted
 * @property {string} state
 * @property {string} toggle the next action of its button: download, pause, continue, or done
 * @property {number} position
 * @property {string} [name]
 * @property {string} [folder]
 * @property {number} [written]
 * @property {number} [total]
 * @property {number} [percent]
 * @property {number} [received]
 * @property {number} [speed]
 * @property {number} [smoothedSpeed]
 * @property {number} [timeLeft]
 * @property {number} [connections]
 * @property {number} [retryIn] seconds until the next attempt, if it waits for one
 * @property {{host: string, connections: number, since: number, reason: string}} [hostLimit] how many connections a host allowed
 * @property {string} [waitsForHost] the host that allows no connection at present
 * @property {number} [retryAttempt] the number of that attempt since the last progress
 * @property {number} [retryLimit] the retries after which it fails
 * @property {string} [retryReason] a status code, or a word or two
 * @property {Failure} [retry] the failure that it waits after
 * @property {string} [type]
 * @property {string} [group]
 * @property {number} [priority]
 * @property {number} [addedAt]
 * @property {number} [startAt] until when it is paused
 * @property {number} [startedAt]
 * @property {number} [endedAt]
 * @property {string} [description]
 * @property {Failure} [error]
 * @property {boolean} [isHeld] it waits because its group is paused
 * @property {{listed: number, isListed: boolean, done: number, running: number, failed: number}} [files] of a collection, whose id is the group of its downloads
 * @property {{done: number, total: number}} [segments] of a stream
 */

/**
 * @typedef {object} Failure an error; `message` is the whole English sentence
 * @property {number} [code]
 * @property {string} message
 * @property {string} [place]
 * @property {string} [why]
 * @property {LocalizableMessage} [cause] `why` with its identifier, if it has one
 * @property {string} [remedy]
 * @property {string} [option] the option with the invalid value
 */

/**
 * @typedef {object} LocalizableMessage an English sentence with its identifier and its values
 * @property {string} message
 * @property {string} messageID
 * @property {(string | LocalizableMessage | Failure)[]} [values]
 */

/** Whether an object store refused, or its access key is wrong. @param {Failure} failure */
export const isOfStore = ({ cause }) => cause?.messageID.startsWith("s3-") === true;

/** What it waits for, and continues by itself then: space, files, quota, writing or folder. @param {Failure | undefined} failure */
export const awaitedBy = (failure) => /^waits-for-(.*)/.exec(failure?.cause?.messageID ?? "")?.[1];

/** The response was a 403, as to a link that has expired. @param {Failure | undefined} failure */
export const isForbidden = (failure) => failure?.cause?.messageID.startsWith("http-status") === true && failure.cause.values?.[0] === "403";

/** The response was a 5xx: the server failed, not the URL. @param {Failure | undefined} failure */
export const isOfServer = (failure) => failure?.cause?.messageID.startsWith("http-status") === true && /^5/.test(String(failure.cause.values?.[0]));

/**
 * What helps, by the tables of a language.
 * @param {{remedies: Record<number, string>, storeRemedies: Record<number, string>, waitRemedies: Record<string, string>, remedyOfForbidden: string}} tables
 */
export const remedyIn = ({ remedies, storeRemedies, waitRemedies, remedyOfForbidden }) => (/** @type {Failure} */ failure) => {
  if (isForbidden(failure)) return remedyOfForbidden;
  // As of a server that is overloaded.
  if (isOfServer(failure)) return remedies[29];
  return waitRemedies[awaitedBy(failure) ?? ""] ?? (isOfStore(failure) ? storeRemedies : remedies)[failure.code ?? 0];
};

/** The cause alone, also of a sentence that was kept whole. @param {Failure} failure */
export const causeOf = ({ why, message }) => (why || message).replace(/^[A-Za-z ]+ [a-z]+:\/\/\S+: /, "");

/** @typedef {"running" | "waiting" | "paused" | "finished" | "failed"} Part */

/** Whether it lasted less than a second, so that its mean speed is higher than that of one. @param {Row} row */
export const isShort = ({ startedAt = 0, endedAt = 0 }) => endedAt <= startedAt;

/** The mean speed of the whole transfer; undefined without both times. @param {Row} row */
export function meanSpeedOf({ state, startedAt, endedAt, total, received }) {
  if (state !== "finished" || !startedAt || !endedAt) return undefined;
  return (received ?? total ?? 0) / Math.max(1, endedAt - startedAt);
}

/** The part of the queue that a state belongs to. @type {Record<string, Part>} */
const parts = {
  probing: "running", transferring: "running", waitingForNetwork: "running", verifying: "running",
  publishing: "running", waiting: "waiting", waitingForDisk: "waiting", preempted: "waiting", paused: "paused", finished: "finished",
  failed: "failed",
};

/** @param {Row} row */
export const partOf = (row) => parts[row.state] ?? "waiting";

/** Waits in the queue, so that it can be moved. @param {Row} row */
export const isInLine = (row) => partOf(row) === "waiting" || partOf(row) === "paused";

/** @param {Row} row */
export const nameOf = (row) => row.name ?? lastComponent(row.url);

/** @param {Row} row */
export function hostOf(row) {
  return /^[a-z]+:\/\/(?:[^/@]*@)?([^/?#]+)/i.exec(row.url)?.[1] ?? row.url;
}

/** @param {string} url */
function lastComponent(url) {
  const name = url.split(/[?#]/)[0].split("/").filter(Boolean).pop() ?? url;
  try {
    // Invisible characters, including direction overrides, can make one name look like another.
    return decodeURIComponent(name).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "") || name;
  } catch {
    return name;
  }
}

/** A URL that stands for many files. @param {Row} row */
export const isCollection = (row) => row.files !== undefined;

/** The order in which they run. @param {Row} one @param {Row} other */
export const byTurn = (one, other) =>
  (other.priority ?? 0) - (one.priority ?? 0) || one.position - other.position;

const memory = 300;
/** Of the long history, in tens of seconds. */
const longMemory = 360;

/** Events: "change" (of rows or totals), "tick" (every second). */
export class Queue extends EventTarget {
  /** @type {Map<string, Row>} */
  rows = new Map();
  /** @type {{slots?: number, limit?: number | null, timetable?: string | null, free?: number | null, isPaused?: boolean, pausedUntil?: number | null, root?: string, version?: string, pausedGroups?: string[]}} */
  status = {};
  isReady = false;
  /** A full update that is still incomplete; the previous state, if any, is shown until it is complete. @type {Map<string, Row> | null} */
  #arriving = null;
  /** Total bytes per second, one value per second, the latest last. @type {number[]} */
  speeds = [];
  /** The means of ten seconds each, for an hour. @type {number[]} */
  tens = [];
  #passed = 0;
  /** The same for each running download. @type {Map<string, number[]>} */
  #histories = new Map();
  #second = 0;

  /** @param {any} news */
  take(news) {
    if (news.speeds) return this.#restore(news.speeds);
    if (news.problem) return void this.dispatchEvent(new CustomEvent("problem", { detail: news.problem }));
    if (news.all) this.#arriving = this.isReady ? new Map() : this.rows;
    const rows = this.#arriving ?? this.rows;
    for (const row of news.rows ?? []) {
      rows.set(row.id, row);
    }
    for (const id of news.gone ?? []) rows.delete(id);
    if (news.ready) {
      this.rows = rows;
      this.#arriving = null;
      this.isReady = true;
    }
    for (const id of this.#histories.keys()) if (!this.rows.has(id)) this.#histories.delete(id);
    if (news.status) this.status = news.status;
    this.#hold();
    if (news.status) this.#remember();
    this.dispatchEvent(new Event("change"));
  }

  /** The speeds that the service has recorded. @param {{seconds: number[], tens: number[]}} speeds */
  #restore({ seconds, tens }) {
    this.speeds = seconds;
    this.tens = tens;
    this.dispatchEvent(new Event("tick"));
  }

  /** What is left of the downloads that run or wait: bytes, of which some are unknown, and seconds at the present speed. */
  rest() {
    let [written, total, unknown, speed] = [0, 0, 0, 0];
    for (const row of this.rows.values()) {
      const part = partOf(row);
      // Those of a collection that are not in the queue yet count too.
      if (part !== "running" && part !== "waiting" || this.isMember(row)) continue;
      written += row.written ?? 0;
      if (row.total === undefined) unknown += 1;
      total += row.total ?? row.written ?? 0;
      speed += row.smoothedSpeed ?? 0;
    }
    return { written, total, unknown, seconds: speed > 0 && total > written ? (total - written) / speed : undefined };
  }

  get speed() {
    let sum = 0;
    for (const row of this.rows.values()) if (!this.isMember(row)) sum += row.speed ?? 0;
    return sum;
  }

  /** The number of downloads in each part, and in total. */
  counts() {
    const counts = { all: 0, running: 0, waiting: 0, paused: 0, finished: 0, failed: 0 };
    for (const row of this.rows.values()) {
      if (this.isMember(row)) continue;
      counts.all += 1;
      counts[partOf(row)] += 1;
    }
    return counts;
  }

  /** Whether it is in the row of a collection. @param {Row} row */
  isMember(row) {
    return row.group !== undefined && this.rows.get(row.group)?.files !== undefined;
  }

  groups() {
    /** @type {Map<string, number>} */
    const groups = new Map();
    for (const { group } of this.rows.values()) if (group && !this.rows.has(group)) groups.set(group, (groups.get(group) ?? 0) + 1);
    return new Map([...groups].sort(([one], [other]) => one.localeCompare(other)));
  }

  /** Distinguishes waiting for a paused group from waiting for a slot. */
  #hold() {
    const paused = new Set(this.status.pausedGroups);
    for (const [id, row] of this.rows) {
      const isHeld = partOf(row) === "waiting" && paused.has(row.group ?? "");
      if (isHeld !== (row.isHeld ?? false)) this.rows.set(id, { ...row, isHeld });
    }
  }

  /** Downloads that wait for a slot or are paused, in queue order. */
  line() {
    return [...this.rows.values()].filter((row) => isInLine(row) && !isCollection(row)).sort(byTurn);
  }

  /** @param {string} id */
  history(id) {
    return this.#histories.get(id) ?? [];
  }

  /** The speeds that the service has recorded of a download, before those of this page. @param {string} id @param {number[]} speeds */
  recall(id, speeds) {
    const own = this.history(id);
    if (speeds.length > own.length) this.#histories.set(id, speeds.slice(-memory));
  }

  #remember() {
    const second = Math.floor(performance.now() / 1000);
    if (second === this.#second || !this.isReady) return;
    this.#second = second;
    push(this.speeds, this.speed, memory);
    this.#passed += 1;
    if (this.#passed % 10 === 0) push(this.tens, mean(this.speeds.slice(-10)), longMemory);
    for (const row of this.rows.values()) {
      if (partOf(row) !== "running") continue;
      let history = this.#histories.get(row.id);
      if (!history) this.#histories.set(row.id, (history = []));
      push(history, row.speed ?? 0, memory);
    }
    this.dispatchEvent(new Event("tick"));
  }
}

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** @param {number[]} values @param {number} value @param {number} most */
function push(values, value, most) {
  values.push(value);
  if (values.length > most) values.shift();
}
