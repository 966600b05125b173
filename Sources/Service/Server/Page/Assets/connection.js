// The WebSocket to the service: calls, updates, and reconnecting.

import { whoAmI } from "./login.js";

/** Silence after which the connection counts as dead; the service sends an update every second. */
const silence = 6000;
const longestWait = 10000;

/**
 * Events: "open", "live" (detail: the changes), "lost" (detail: milliseconds until the next attempt), "unauthorized" (the
 * service does not know this browser).
 */
export class Connection extends EventTarget {
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
  #calls = new Map();
  #next = 1;
  #failures = 0;
  #watchdog = 0;
  #timer = 0;

  constructor() {
    super();
    addEventListener("online", () => this.retry());
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.#timer);
    const early = takeEarly();
    const socket = early?.socket ?? new WebSocket(new URL("/live", location.href.replace(/^http/, "ws")));
    this.#socket = socket;
    this.#listenFor(socket);
    const opened = () => {
      this.#failures = 0;
      this.dispatchEvent(new Event("open"));
    };
    socket.onopen = opened;
    socket.onmessage = ({ data }) => {
      this.#listenFor(socket);
      this.#receive(JSON.parse(data));
    };
    socket.onclose = () => {
      if (socket === this.#socket) this.#lost();
    };
    if (!early) return;
    if (socket.readyState === WebSocket.OPEN) opened();
    else if (socket.readyState !== WebSocket.CONNECTING) this.#lost();
    for (const data of early.messages) this.#receive(JSON.parse(data));
  }

  /** Whether there is a connection that was opened before this script ran. */
  get hasEarly() {
    return "early" in globalThis;
  }

  /** Reconnects immediately. */
  retry() {
    if (this.#socket === null) this.connect();
  }

  /**
   * Calls a method of the service.
   * @param {string} method
   * @param {...any} parameters
   * @returns {Promise<any>}
   */
  call(method, ...parameters) {
    if (!this.isOpen) return Promise.reject(new Error("offline"));
    const id = this.#next++;
    this.#socket?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params: parameters }));
    return new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
  }

  /** @param {any} message */
  #receive(message) {
    if (message.method === "pawl.live") {
      this.dispatchEvent(new CustomEvent("live", { detail: message.params[0] }));
    }
    const call = this.#calls.get(message.id);
    if (!call) return;
    this.#calls.delete(message.id);
    const { error } = message;
    if (error) call.reject(Object.assign(new Error(error.message), error.data, { code: error.code }));
    else call.resolve(message.result);
  }

  /** @param {WebSocket} socket */
  #listenFor(socket) {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => {
      // A close would wait for the peer's close frame, which does not arrive.
      socket.onclose = socket.onmessage = null;
      socket.close();
      this.#lost();
    }, silence);
  }

  async #lost() {
    clearTimeout(this.#watchdog);
    this.#socket = null;
    for (const call of this.#calls.values()) call.reject(new Error("offline"));
    this.#calls.clear();
    // Browsers do not expose why a WebSocket was refused.
    const isUnauthorized = (await whoAmI()) === "unauthorized";
    if (this.#socket !== null) return;
    if (isUnauthorized) {
      this.dispatchEvent(new Event("unauthorized"));
      return;
    }
    const wait = Math.min(longestWait, 500 * 2 ** this.#failures);
    this.#failures += 1;
    this.dispatchEvent(new CustomEvent("lost", { detail: wait }));
    this.#timer = setTimeout(() => this.retry(), wait);
  }
}

/** The connection of `early.js`, once. @returns {{socket: WebSocket, messages: string[]} | undefined} */
function takeEarly() {
  const { early } = /** @type {any} */ (globalThis);
  delete /** @type {any} */ (globalThis).early;
  return early;
}
