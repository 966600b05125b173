// The browser's Back closes what is on top of the list, on screens where that covers it.

/** @typedef {{close: () => void}} Layer */

/** @type {Layer[]} */
const layers = [];
/** Whether the history has an entry of ours on top. */
let hasEntry = false;
let isLeaving = false;

const isSmall = () => matchMedia("(max-width: 1099px)").matches;

/**
 * Something opened on top of the list.
 * @param {() => void} close
 * @returns {() => void} to be called when it has closed
 */
export function pushLayer(close) {
  const layer = { close };
  layers.push(layer);
  enter();
  return () => {
    const index = layers.indexOf(layer);
    if (index >= 0) layers.splice(index, 1);
    // Later: another layer may open at once.
    setTimeout(leave);
  };
}

function enter() {
  if (hasEntry || isLeaving || !isSmall()) return;
  hasEntry = true;
  history.pushState({ isPawl: true }, "");
}

function leave() {
  if (layers.length > 0 || !hasEntry) return;
  hasEntry = false;
  isLeaving = true;
  history.back();
}

addEventListener("popstate", () => {
  if (isLeaving) {
    isLeaving = false;
    if (layers.length > 0) enter();
    return;
  }
  if (!hasEntry) return;
  hasEntry = false;
  layers.pop()?.close();
  if (layers.length > 0) enter();
});
