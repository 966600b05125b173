// Line icons, drawn on a grid of 24.

const paths = {
  download: "M12 4v11m-5-5 5 5 5-5M5 20h14",
  pause: "M9 6v12M15 6v12",
  continue: "M8 5.5v13l10.5-6.5z",
  done: "M5 12.5l4.5 4.5L19 7.5",
  retry: "M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4",
  details: "M10 6l6 6-6 6",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  user: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20c.8-4 4-5.5 7.5-5.5s6.700 1.500 7.500 5.500",
  edit: "M4 7h9m4 0h3M4 17h3m4 0h9M17 7a2 2 0 1 0-4 0 2 2 0 0 0 4 0zM11 17a2 2 0 1 0-4 0 2 2 0 0 0 4 0z",
  settings: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 3v3m0 12v3M3 12h3m12 0h3M5.600 5.600l2.100 2.100m8.600 8.600 2.100 2.100m0-12.800-2.100 2.100m-8.600 8.600-2.100 2.100",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l1.500 2h-15zM10 20.500h4",
  clear: "M4 7h10M4 12h7M4 17h7M14 13l6 6m0-6-6 6",
  columns: "M4 5h16v14H4zM10 5v14M15 5v14",
  upload: "M12 16V5m-5 5 5-5 5 5M5 20h14",
  check: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM8.500 12.200l2.500 2.500 4.500-5",
  shield: "M12 3.500l7 2.500v5.500c0 4.200-2.800 7.400-7 9-4.200-1.600-7-4.800-7-9V6zM8.800 12l2.300 2.300 4.200-4.500",
  none: "M12 12",
  add: "M12 5v14M5 12h14",
  menu: "M5 7h14M5 12h14M5 17h14",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.8-4.8",
  remove: "M5 7h14M10 7V4.5h4V7m-7 0 1 12.5h8L17 7M10.5 10.5v6m3-6v6",
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
  folder: "M3.5 6.5h6l2 2.5h9v10.5h-17z",
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
