// The activity of a download.

import { make } from "./dom.js";
import * as format from "./format.js";
import { words } from "./words.js";

export class Log {
  #items = make("ol", { class: "log" });
  #seen = "";
  element = make("section", {}, make("h3", {}, words.detail.log), this.#items);

  /** @param {import("./detail.js").Details} details */
  show({ log }) {
    const seen = `${log.length} ${JSON.stringify(log.at(-1) ?? null)}`;
    if (seen === this.#seen) return;
    this.#seen = seen;
    // Its end has an entry of its own.
    const shown = log.filter(({ event, state }) => event !== "state" || (state !== "failed" && state !== "finished"));
    const items = shown.map((entry) =>
      make(
        "li",
        { "data-event": entry.event },
        make("time", { datetime: new Date(entry.at * 1000).toISOString() }, format.clock(entry.at)),
        make("strong", {}, title(entry)),
        make("span", { title: entry.message }, text(entry)),
      ),
    );
    this.#items.replaceChildren(...items.reverse());
    if (items.length === 0) this.#items.append(make("li", { class: "hint" }, words.noLog));
  }
}

/** @param {Record<string, any>} entry */
const title = ({ event, state }) => (event === "state" ? words.states[state] ?? state : words.events[event] ?? event);

/** @param {Record<string, any>} entry */
function text(entry) {
  switch (entry.event) {
    case "state":
      return "";
    case "started":
      return entry.resumedAt > 0 ? words.startedAt(format.size(entry.resumedAt)) : words.startedFresh;
    case "retry":
      return `${words.cause(/** @type {any} */ (entry))}${words.retryIn(format.duration(entry.delay))}`;
    case "failed":
      return words.cause(/** @type {any} */ (entry));
    case "notice":
      return words.localized(/** @type {any} */ (entry));
    case "finished":
      return entry.wasThere ? words.wasThere : words.finishedIn(format.size(entry.received), format.took(entry.seconds));
    default:
      return entry.message ?? "";
  }
}
