// The URL of what is shown: filter, group, search and details stand in its fragment, so that a bookmark or a link leads there.

import { words } from "./words.js";

const parts = ["all", "running", "waiting", "paused", "finished", "failed"];

export class Place {
  #hasBegun = false;
  /** Nothing is written before what the page was opened with has been read. */
  #isRead = false;
  /** The fragment that was read or written last: that of a link that has just been followed is read before it is overwritten. */
  #known = "";

  /** @param {import("./main.js").Program} program */
  constructor(program) {
    this.program = program;
    program.view.addEventListener("change", () => this.write());
  }

  /** The first time that the page is shown. */
  begin() {
    if (!this.#hasBegun) this.#read();
    this.#hasBegun = true;
  }

  /** Shows what the URL says, once the downloads are known. */
  #read() {
    const { view, queue } = this.program;
    this.#known = location.hash;
    const named = new URLSearchParams(location.hash.slice(1));
    const filter = named.get("filter") ?? "all";
    this.program.showOnly({ part: parts.includes(filter) ? filter : "all", group: named.get("group"), text: named.get("search") ?? "" });
    const wanted = named.get("download");
    const show = () => {
      if (!queue.isReady) return;
      view.removeEventListener("change", show);
      this.#isRead = true;
      if (wanted === null) this.program.detail.close();
      else if (queue.rows.has(wanted)) this.program.showDetails(wanted);
      else this.program.toasts.show(words.noSuchDownload, { isError: true });
      this.write();
    };
    this.#isRead = false;
    view.addEventListener("change", show);
    show();
  }

  /** In place of the URL of this entry of the history: a filter is not a step back. */
  write() {
    if (!this.#isRead || location.hash !== this.#known) return;
    const { part, group, text } = this.program.view;
    const named = new URLSearchParams();
    if (part !== "all") named.set("filter", part);
    if (group !== null) named.set("group", group);
    if (text.trim()) named.set("search", text.trim());
    const { shown } = this.program.detail;
    if (shown !== null) named.set("download", shown);
    const hash = `#${named}`.replace(/^#$/, "");
    if (hash !== location.hash || !history.state?.isOurs) history.replaceState({ ...history.state, isOurs: true }, "", location.pathname + hash);
    this.#known = location.hash;
  }

  /** The page itself has changed the fragment, or the user has gone back to an entry of ours. */
  rewrite() {
    this.#known = location.hash;
    this.write();
  }

  /** The fragment has changed: by a link, or by the browser's Back to an entry of ours, which only closed something. */
  changed() {
    if (history.state?.isOurs) this.rewrite();
    else this.#read();
  }
}
