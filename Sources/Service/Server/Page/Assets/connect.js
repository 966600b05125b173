// The dialog that connects others: a phone, the browser's extension, clients of aria2, a bookmarklet.

import { openDialog } from "./asking.js";
import { make } from "./dom.js";
import { icon } from "./icons.js";
import { qrCode } from "./qr.js";
import { words } from "./words.js";

/** The life of a code in the service, in milliseconds. */
const life = 60_000;

/** @param {import("./actions.js").Actions} actions */
export async function openConnect(actions) {
  const access = await actions.call("pawl.access");
  if (!access) return;
  const link = new LinkBox(actions, access);
  const dialog = openDialog({
    title: words.connect,
    class: "connect",
    content: [
      make("section", {}, make("h3", {}, words.connectDevice), link.element),
      make("section", {}, make("h3", {}, words.connectExtension), make("p", {}, words.connectExtensionText)),
      make(
        "section",
        {},
        make("h3", {}, words.connectClients),
        make("p", {}, words.connectClientsText),
        copyField(actions, words.rpcURL, "connect-rpc", `${location.origin}/jsonrpc`),
        access.secret === null ? make("p", { class: "hint" }, words.noSecretRequired) : copyField(actions, words.secret, "connect-secret", access.secret, true),
      ),
      make("section", { class: "for-desktops" }, make("h3", {}, words.connectBookmarks), bookmarklet()),
    ],
  });
  dialog.addEventListener("close", () => link.end());
}

/** A link that logs one browser in, as text and as a code for cameras, with a new one when it has expired. */
class LinkBox {
  element = make("div", { class: "connect-link" });
  #timer = 0;

  /** @param {import("./actions.js").Actions} actions @param {{code: string | null, isLocal: boolean}} access */
  constructor(actions, access) {
    this.actions = actions;
    this.#show(access);
  }

  end() {
    clearTimeout(this.#timer);
  }

  /** @param {{code: string | null, isLocal: boolean}} access */
  #show({ code, isLocal }) {
    const url = `${location.origin}/${code === null ? "" : `#code=${code}`}`;
    const isHere = ["localhost", "[::1]"].includes(location.hostname) || location.hostname.startsWith("127.");
    const hint = isLocal ? words.connectOnlyHere : isHere ? words.connectByName : words.connectDeviceText;
    this.element.replaceChildren(
      // A phone cannot use an address that leads to itself.
      ...(isHere ? [] : [picture(url)]),
      make(
        "div",
        {},
        make("p", {}, hint),
        copyField(this.actions, words.oneTimeLink, "connect-link", url),
        ...(code === null ? [] : [make("p", { class: "hint", role: "status" }, words.oneTimeLinkHint)]),
      ),
    );
    if (code !== null) this.#timer = setTimeout(() => this.#expire(), life);
  }

  #expire() {
    const renew = async () => {
      const access = await this.actions.call("pawl.access");
      if (access) this.#show(access);
    };
    this.element.replaceChildren(
      make("p", { role: "status" }, words.oneTimeLinkExpired),
      make("button", { type: "button", onclick: renew }, words.newLink),
    );
  }
}

const space = "http://www.w3.org/2000/svg";
/** The white that a code needs around it, in modules. */
const margin = 4;

/** @param {string} text */
function picture(text) {
  const modules = qrCode(text);
  // No address of a machine is that long.
  if (!modules) return "";
  const size = modules.length + 2 * margin;
  const parts = modules.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x + margin} ${y + margin}h1v1h-1z`] : [])));
  const svg = document.createElementNS(space, "svg");
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${size} ${size}`, class: "qr", role: "img", "aria-label": words.qrCode, "shape-rendering": "crispEdges" })) {
    svg.setAttribute(name, value);
  }
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", parts.join(""));
  svg.append(path);
  return svg;
}

/** A value that can be selected and copied; a secret is shown on request. */
function copyField(
  /** @type {import("./actions.js").Actions} */ actions,
  /** @type {string} */ label,
  /** @type {string} */ id,
  /** @type {string} */ value,
  isSecret = false,
) {
  const input = make("input", { id, type: isSecret ? "password" : "text", value, readonly: true, autocomplete: "off", spellcheck: "false" });
  const show = make("button", { type: "button", class: "small" }, words.show);
  show.addEventListener("click", () => {
    input.type = "text";
    input.select();
    show.remove();
  });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      actions.toasts.show(words.copiedText(label));
    } catch {
      input.type = "text";
      input.select();
      actions.toasts.show(words.cannotCopy, { isError: true });
    }
  };
  return make(
    "div",
    { class: "field" },
    make("label", { for: id }, label),
    make("div", { class: "copy-line" }, input, isSecret && show, make("button", { type: "button", class: "small", onclick: copy }, words.copy)),
  );
}

/** A link for the browser's bookmarks that hands the present page's URL over. */
function bookmarklet() {
  const code = `javascript:void open(${JSON.stringify(`${location.origin}/#add=`)}+encodeURIComponent(location.href))`;
  const link = make("a", { class: "bookmarklet", href: code, onclick: (/** @type {Event} */ event) => event.preventDefault() }, icon("download"), words.bookmarklet);
  return make("div", { class: "field" }, make("p", {}, link), make("p", { class: "hint" }, words.bookmarkletHint));
}
