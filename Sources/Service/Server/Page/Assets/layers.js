// The browser's Back closes what is on top of the list, on screens where that covers it.

/** @typedef {{close: () => void, hasEntry: boolean}} Layer */

/** @type {Layer[]} */
const layers = [];
/** The entries of ours in the history up to the current one; a page that was loaded again has those of before. */
let entries = history.state?.layers ?? 0;
let isLeaving = false;

const isSmall = () => matchMedia("(max-width: 1099px)").matches;
const wanted = () => layers.filter(({ hasEntry }) => hasEntry).length;

/**
 * Something opened on top of the list.
 * @param {() => void} close
 * @returns {() => void} to be called when it has closed
 */
export function pushLayer(close) {
  const layer = { close, hasEntry: isSmall() };
  layers.push(layer);
  enter();
  return () => {
    const index = layers.indexOf(layer);
    if (index >= 0) layers.splice(index, 1);
    // Later: another layer may open at once.
    setTimeout(leave);
  };
}

/** Each layer has an entry, made at the press that opened it: Back passes over entries without a press. */
function enter() {
  while (!isLeaving && entries < wanted()) {
    entries += 1;
    history.pushState({ ...history.state, layers: entries }, "");
  }
}

function leave() {
  const surplus = entries - wanted();
  if (isLeaving || surplus <= 0) return;
  isLeaving = true;
  history.go(-surplus);
}

addEventListener("popstate", () => {
  entries = history.state?.layers ?? 0;
  if (isLeaving) isLeaving = false;
  else while (wanted() > entries) layers.pop()?.close();
  enter();
  leave();
});

setTimeout(leave);
