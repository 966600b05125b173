// A preview of a finished file, if the browser supports its type.

import { make } from "./dom.js";
import { nameOf } from "./queue.js";
import { words } from "./words.js";

/** @type {Record<string, RegExp>} */
const kinds = {
  image: /\.(png|jpe?g|gif|webp|avif|bmp|ico)$/i,
  video: /\.(mp4|m4v|webm|ogv|mov)$/i,
  audio: /\.(mp3|m4a|aac|ogg|oga|opus|wav|flac)$/i,
  text: /\.(txt|md|log|json|csv|srt)$/i,
};

const mostText = 64 << 10;

export class Preview {
  element = make("section", { class: "preview", hidden: true });
  #shown = "";

  /** @param {import("./detail.js").Details} details */
  show(details) {
    const problem = { missing: words.fileMissing, changed: words.fileChanged, there: "" }[details.file ?? "there"];
    const kind = details.file === "there" ? kindOf(details) : undefined;
    const shown = problem ? details.file ?? "" : kind ? `${kind} ${details.id}` : "";
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.element.hidden = shown === "";
    if (problem) this.element.replaceChildren(make("p", { class: "problem" }, problem));
    else if (kind) this.#fill(kind, details);
  }

  /** @param {string} kind @param {import("./detail.js").Details} details */
  #fill(kind, details) {
    const src = `/files/${details.id}`;
    const name = nameOf(details);
    const problem = make("p", { class: "hint", hidden: true }, words.cannotPlay);
    const onerror = () => (problem.hidden = false);
    switch (kind) {
      case "image":
        this.element.replaceChildren(
          make("a", { href: src, target: "_blank", rel: "noopener", "aria-label": words.openImage }, make("img", { src, alt: name })),
        );
        break;
      case "video":
        this.element.replaceChildren(
          make("video", { src, controls: true, preload: "metadata", playsinline: true, "aria-label": words.videoOf(name), onerror }),
          problem,
        );
        break;
      case "audio":
        this.element.replaceChildren(
          make("audio", { src, controls: true, preload: "metadata", "aria-label": words.audioOf(name), onerror }),
          problem,
        );
        break;
      case "text":
        this.#fillText(src);
        break;
    }
  }

  /** @param {string} src */
  async #fillText(src) {
    const box = make("pre", { class: "preview-text", tabindex: 0, role: "region", "aria-label": words.detail.preview });
    this.element.replaceChildren(box);
    const response = await fetch(src, { headers: { range: `bytes=0-${mostText - 1}` } }).catch(() => null);
    if (response?.ok) box.textContent = await response.text();
  }
}

/** @param {import("./detail.js").Details} details */
function kindOf(details) {
  const name = nameOf(details);
  const byName = Object.keys(kinds).find((kind) => kinds[kind].test(name));
  const byType = /^(image|video|audio)\/(?!svg)/.exec(details.type ?? "")?.[1];
  return byName ?? (name.includes(".") ? undefined : byType);
}
