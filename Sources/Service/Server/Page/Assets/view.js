// Filter, order and selection of rows.

import { byTurn, isCollection, meanSpeedOf, nameOf, partOf } from "./queue.js";

/** @typedef {import("./queue.js").Row} Row */
/** `sign` is -1 if the order is reversed. @typedef {(one: Row, other: Row, sign: number) => number} Order */

const ranks = { running: 0, waiting: 1, paused: 1, failed: 2, finished: 2 };

/** Running downloads, then the queue, then ended ones, the latest first. @param {Row} one @param {Row} other */
function inQueue(one, other) {
  const [rank, otherRank] = [ranks[partOf(one)], ranks[partOf(other)]];
  if (rank !== otherRank) return rank - otherRank;
  return rank === 2 ? (other.endedAt ?? 0) - (one.endedAt ?? 0) : byTurn(one, other);
}

const collator = new Intl.Collator(undefined, { numeric: true });
/** @param {(one: Row, other: Row) => number} order @returns {Order} */
const both = (order) => (one, other, sign) => sign * order(one, other);
/** Rows without a value are last in both directions. @param {(row: Row) => number | null | undefined} value @returns {Order} */
const byNumber = (value) => (one, other, sign) => {
  const [first, second] = [value(one) ?? null, value(other) ?? null];
  if (first === null || second === null) return Number(first === null) - Number(second === null);
  return sign * (first - second);
};

/** @type {Record<string, Order>} */
export const orders = {
  queue: both(inQueue),
  name: both((one, other) => collator.compare(nameOf(one), nameOf(other))),
  progress: byNumber((row) => row.percent),
  size: byNumber((row) => row.total ?? (row.written || null)),
  speed: byNumber((row) => row.speed || null),
  timeLeft: byNumber((row) => row.timeLeft),
  connections: byNumber((row) => row.connections || null),
  state: both((one, other) => ranks[partOf(one)] - ranks[partOf(other)] || collator.compare(one.state, other.state)),
  added: byNumber((row) => row.addedAt),
  ended: byNumber((row) => row.endedAt),
  mean: byNumber((row) => meanSpeedOf(row)),
};

/** Orders that are descending by default. */
const downwards = new Set(["progress", "size", "speed", "connections", "added", "ended", "mean"]);

/** Events: "change". */
export class View extends EventTarget {
  /** @type {Row[]} */
  rows = [];
  part = "all";
  /** @type {string | null} */
  group = null;
  text = "";
  order = "queue";
  isReversed = false;
  /** @type {Set<string>} */
  chosen = new Set();
  /** Collections whose downloads are shown below them. @type {Set<string>} */
  opened = new Set();
  /** The current row. @type {string | null} */
  current = null;
  /** The start of a range selection. @type {string | null} */
  #anchor = null;

  /** @param {import("./queue.js").Queue} queue */
  constructor(queue) {
    super();
    this.queue = queue;
    let isDue = false;
    queue.addEventListener("change", () => {
      if (isDue) return;
      isDue = true;
      // Coalesces simultaneous messages; timers run in hidden pages too, animation frames do not.
      setTimeout(() => {
        isDue = false;
        this.refresh();
      });
    });
  }

  refresh() {
    const texts = this.text.toLowerCase().split(/\s+/).filter(Boolean);
    const isFound = (/** @type {Row} */ row) => {
      const searched = `${nameOf(row)}\n${row.url}`.toLowerCase();
      return texts.every((text) => searched.includes(text));
    };
    const rows = [...this.queue.rows.values()].filter(
      (row) =>
        (this.part === "all" || partOf(row) === this.part) &&
        (this.group === null || row.group === this.group) &&
        isFound(row),
    );
    const order = orders[this.order];
    const sign = this.isReversed ? -1 : 1;
    rows.sort((one, other) => order(one, other, sign) || inQueue(one, other) || (one.id < other.id ? -1 : 1));
    this.rows = this.#fold(rows);
    if (this.chosen.size > 0) {
      // What has left the list, for example because it was resumed, is not acted on unseen.
      const shown = new Set(rows.map(({ id }) => id));
      for (const id of this.chosen) if (!shown.has(id)) this.chosen.delete(id);
    }
    if (this.current && !this.queue.rows.has(this.current)) this.current = null;
    this.#notify();
  }

  /** The downloads of a collection below it if it is opened, else not. @param {Row[]} rows */
  #fold(rows) {
    if (!rows.some(isCollection)) return rows.filter((row) => !this.queue.isMember(row));
    /** @type {Map<string, Row[]>} */
    const members = new Map();
    for (const row of rows) if (row.group && this.opened.has(row.group)) members.set(row.group, [...(members.get(row.group) ?? []), row]);
    return rows.flatMap((row) => (this.queue.isMember(row) ? [] : [row, ...(members.get(row.id) ?? [])]));
  }

  /** Shows the downloads of a collection below it, or hides them. @param {string} id */
  toggleOpened(id) {
    if (!this.opened.delete(id)) this.opened.add(id);
    this.refresh();
  }

  /** @param {{part?: string, group?: string | null, text?: string}} filter */
  show(filter) {
    Object.assign(this, filter);
    this.chosen.clear();
    this.refresh();
  }

  /** The same order again reverses it, and a third time returns to that of the queue. @param {string} order */
  sort(order) {
    const isFirst = order !== this.order;
    const isThird = !isFirst && this.isReversed !== downwards.has(order);
    this.order = isThird ? "queue" : order;
    this.isReversed = isFirst ? downwards.has(order) : !isThird && order !== "queue" && !this.isReversed;
    this.refresh();
  }

  /** Rows can be moved if they are shown in queue order. */
  get isInQueueOrder() {
    return this.order === "queue" && !this.isReversed;
  }

  // MARK: selection

  /** @param {string | null} id */
  indexOf(id) {
    return id === null ? -1 : this.rows.findIndex((row) => row.id === id);
  }

  /** Selects one row only. @param {string} id */
  choose(id) {
    this.chosen = new Set([id]);
    this.current = this.#anchor = id;
    this.#notify();
  }

  /** Adds a row to the selection, or removes it. @param {string} id */
  flip(id) {
    if (!this.chosen.delete(id)) this.chosen.add(id);
    this.current = this.#anchor = id;
    this.#notify();
  }

  /** Extends the selection to this row. @param {string} id */
  extend(id) {
    const ends = [Math.max(0, this.indexOf(this.#anchor)), this.indexOf(id)].sort((one, other) => one - other);
    this.chosen = new Set(this.rows.slice(ends[0], ends[1] + 1).map((row) => row.id));
    this.current = id;
    this.#notify();
  }

  chooseAll() {
    this.chosen = new Set(this.rows.map((row) => row.id));
    this.#notify();
  }

  chooseNone() {
    this.chosen.clear();
    this.#notify();
  }

  /**
   * Moves to another row.
   * @param {number} steps
   * @param {boolean} extends_ whether the rows in between are selected too
   */
  go(steps, extends_) {
    if (this.rows.length === 0) return;
    const found = this.indexOf(this.current);
    const from = found < 0 && steps < 0 ? 0 : found;
    const to = Math.min(this.rows.length - 1, Math.max(0, from + steps));
    const { id } = this.rows[to];
    if (extends_) this.extend(id);
    else this.choose(id);
  }

  /** The selected rows, in display order. */
  get chosenRows() {
    return this.rows.filter((row) => this.chosen.has(row.id));
  }

  #notify() {
    this.dispatchEvent(new Event("change"));
  }
}
