// The service: pairing, and calls over HTTP with the secret.

import { parseLink } from "./rules.js";

/** Nobody responded, or not as a service does. */
export class Unreachable extends Error {}

/** The service refused a call. */
export class Refused extends Error {}

export class Service {
  /** @param {{origin: string, secret: string}} access */
  constructor({ origin, secret }) {
    this.origin = origin;
    this.secret = secret;
  }

  /** The service that the extension is paired with; null before. */
  static async stored() {
    const { access } = await chrome.storage.local.get("access");
    return access ? new Service(access) : null;
  }

  /** Exchanges the code of a one-time link for the secret. @param {string} text */
  static async pair(text) {
    const link = parseLink(text);
    if (!link) throw new Refused(chrome.i18n.getMessage("notALink"));
    const response = await send(`${link.origin}/pair`, link.code, 10_000);
    if (response.status === 401) throw new Refused(chrome.i18n.getMessage("linkIsStale"));
    if (!response.ok) throw new Refused((await response.text()).trim() || String(response.status));
    const { secret } = await response.json();
    await chrome.storage.local.set({ access: { origin: link.origin, secret } });
    return new Service({ origin: link.origin, secret });
  }

  static unpair() {
    return chrome.storage.local.remove("access");
  }

  /** @param {string} method @param {any[]} parameters @param {number} [patience] milliseconds */
  async call(method, parameters = [], patience = 20_000) {
    const [result] = await this.calls([[method, parameters]], patience);
    if (result instanceof Error) throw result;
    return result;
  }

  /** Several calls in one message; a refused one is an error among the results. @param {[string, any[]][]} calls @param {number} [patience] */
  async calls(calls, patience = 20_000) {
    const message = calls.map(([method, parameters], id) => ({ jsonrpc: "2.0", id, method, params: [`token:${this.secret}`, ...parameters] }));
    const response = await send(`${this.origin}/jsonrpc`, JSON.stringify(message), patience);
    const results = await response.json().catch(() => null);
    if (!Array.isArray(results)) throw new Refused(results?.error?.message ?? `${this.origin}: ${response.status}`);
    return calls.map((_, id) => {
      const found = results.find((result) => result.id === id);
      return found?.error ? new Refused(found.error.message) : found?.result;
    });
  }
}

/** @param {string} url @param {string} body @param {number} patience */
async function send(url, body, patience) {
  try {
    // No cookies of the page, and no redirect that could take the secret elsewhere.
    return await fetch(url, { method: "POST", body, credentials: "omit", redirect: "error", cache: "no-store", signal: AbortSignal.timeout(patience) });
  } catch {
    throw new Unreachable(chrome.i18n.getMessage("unreachable", [new URL(url).origin]));
  }
}
