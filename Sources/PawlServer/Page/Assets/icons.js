// Line icons, drawn on a grid of 24.

const paths = {
  download: "M12 4v11m-5-5 5 5 5-5M5 20h14",
  pause: "M9 6v12M15 6v12",
  continue: "M8 5.5v13l10.5-6.5z",
  done: "M5 12.5l4.5 4.5L19 7.5",
  add: "M12 5v14M5 12h14",
  menu: "M5 7h14M5 12h14M5 17h14",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.8-4.8",
  remove: "M5 7h14M10 7V4.5h4V7m-7 0 1 12.5h8L17 7M10.5 10.5v6m3-6v6",
  shred: "M6 3.5h8l4 4V13M6 3.5V13M3 13h18M7 16v4.5m5-4.5v4.5m5-4.5v4.5",
  force: "M13 3 5.5 13.5H11L10 21l8-11h-6z",
  up: "M12 19V5m-6 6 6-6 6 6",
  down: "M12 5v14m-6-6 6 6 6-6",
  first: "M12 20V9m-5 5 5-5 5 5M6 4.5h12",
  last: "M12 4v11m-5-5 5 5 5-5M6 19.5h12",
  rename: "M5 19l1-4L16.5 4.5l3 3L9 18z",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.5 1.5M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.5-1.5",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  open: "M14 4h6v6m0-6-9 9M18 14v5.5H4.5V6H10",
  save: "M12 4v10m-4.5-4.5L12 14l4.5-4.5M4.5 15v4.5h15V15",
  close: "M6 6l12 12M18 6 6 18",
  limits: "M4 8h9m5 0h2M4 16h2m5 0h9M15.5 5.5v5M8.5 13.5v5",
  keyboard: "M3.5 7h17v10.5h-17zM7 10.5h.01M10.3 10.5h.01M13.7 10.5h.01M17 10.5h.01M8 14h8",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
  language: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM4.5 9.5h15m-15 5h15M12 4c-4.5 4.5-4.5 11.5 0 16 4.5-4.5 4.5-11.5 0-16z",
  leave: "M10 4.5H5v15h5M9.5 12H20m-4-4 4 4-4 4",
  warning: "M12 4 2.8 19.5h18.4zM12 10v4.5m0 2.5v.01",
  offline: "M3 3l18 18M8.5 15.5a5 5 0 0 1 7 0M5.5 12a9.5 9.5 0 0 1 3.5-2.2m6 .7a9.5 9.5 0 0 1 3.5 2M2.5 8.5A14 14 0 0 1 6 6.2m4-1.1a14 14 0 0 1 11.5 3.4M12 19v.01",
  select: "M5 6l1.5 1.5L9.5 4.5M5 13l1.5 1.5 3-3M5 19.5h.01M13 6.5h7M13 13h7M13 19.5h7",
  priority: "M6 20V5m0 0h11l-2.5 4L17 13H6",
};

/** @typedef {keyof typeof paths} Icon */

const space = "http://www.w3.org/2000/svg";

/**
 * @param {Icon} name
 * @returns {SVGElement}
 */
export function icon(name) {
  const picture = document.createElementNS(space, "svg");
  picture.setAttribute("viewBox", "0 0 24 24");
  picture.setAttribute("class", "icon");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", paths[name]);
  picture.append(path);
  return picture;
}
