// The dialog for adding a torrent that was dropped or opened: its files become one row.

import { chosenStart, startChoice } from "./adding.js";
import { field, openDialog, setProblem } from "./asking.js";
import { make } from "./dom.js";
import * as format from "./format.js";
import { textOf, words } from "./words.js";

/** A torrent as `pawl.read` describes it; `source` stands for it in `pawl.add`. @typedef {{name: string, files: number, size: number, source: string}} Torrent */

/** @param {import("./actions.js").Actions} actions @param {Torrent} torrent */
export function openTorrent(actions, { name, files, size, source }) {
  const folder = make("input", { id: "torrent-folder", autocomplete: "off", spellcheck: "false", placeholder: name });
  const start = startChoice("enqueued", false);
  const add = make("button", { type: "submit", class: "primary" }, words.add);
  const dialog = openDialog({
    title: words.addTorrent,
    class: "is-small question",
    content: [make("p", {}, make("strong", {}, name), make("br"), words.torrentFiles(files, format.size(size))), field(words.folder, folder, words.folderHint), start],
    buttons: [make("button", { type: "button", onclick: () => dialog.close() }, words.cancel), add],
    onsubmit: async (event) => {
      event.preventDefault();
      add.disabled = true;
      const where = folder.value.trim();
      try {
        const [{ id, error }] = await actions.connection.call("pawl.add", [{ url: source, start: chosenStart(start), listing: {}, ...(where ? { folder: where } : {}) }]);
        if (error) throw error;
        dialog.close();
        actions.view.choose(id);
        actions.toasts.show(words.added(1));
      } catch (error) {
        setProblem(folder, textOf(error));
        add.disabled = false;
      }
    },
  });
  add.focus();
}
