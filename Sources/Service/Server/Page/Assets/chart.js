// An area chart of the speed; the latest value is at the right.

import { duration, speed } from "./format.js";

/**
 * @param {HTMLCanvasElement} canvas its style sets the size, `color` the line and `--line` the grid lines
 * @param {number[]} values one per `step` seconds, the latest last
 * @param {{isQuiet?: boolean, step?: number, span?: number}} [options] quiet charts have no axes; `span` is the length of
 * the axis in seconds, else a minute or more with more values
 */
export function drawSpeeds(canvas, values, { isQuiet = false, step = 1, span } = {}) {
  const drawing = prepare(canvas);
  if (!drawing) return;
  const { context, width, height, style } = drawing;
  const seconds = span ?? Math.max(60, values.length * step);
  const top = roundUp(Math.max(1024, ...values));
  const foot = isQuiet ? 0 : 16;
  const x = (/** @type {number} */ index) => width - ((values.length - 1 - index) * step * width) / (seconds - 1);
  const y = (/** @type {number} */ value) => height - foot - 1 - (value / top) * (height - foot - 3);
  if (!isQuiet) drawAxes(drawing, y, top, seconds);
  if (values.length > 0) drawArea(drawing, values, x, y, height - foot);
  if (!isQuiet) drawScale(drawing, y, top);
}

/**
 * @param {{context: CanvasRenderingContext2D, width: number, style: CSSStyleDeclaration}} drawing
 * @param {number[]} values
 * @param {(index: number) => number} x
 * @param {(value: number) => number} y
 * @param {number} floor
 */
function drawArea({ context, width, style }, values, x, y, floor) {
  context.beginPath();
  values.forEach((value, index) => context.lineTo(x(index), y(value)));
  context.strokeStyle = style.color;
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.stroke();
  context.lineTo(width, floor);
  context.lineTo(x(0), floor);
  context.closePath();
  context.globalAlpha = 0.14;
  context.fillStyle = style.color;
  context.fill();
  context.globalAlpha = 1;
}

/**
 * Lines for the highest and half of it, and the ends of the time.
 * @param {{context: CanvasRenderingContext2D, width: number, height: number, style: CSSStyleDeclaration}} drawing
 * @param {(value: number) => number} y
 * @param {number} top
 * @param {number} seconds
 */
function drawAxes({ context, width, height, style }, y, top, seconds) {
  context.strokeStyle = style.getPropertyValue("--line");
  context.lineWidth = 1;
  context.fillStyle = style.getPropertyValue("--muted");
  context.font = `11px ${style.fontFamily}`;
  for (const part of [0, 0.5, 1]) {
    const line = Math.round(y(top * part)) + 0.5;
    context.beginPath();
    context.moveTo(0, line);
    context.lineTo(width, line);
    context.stroke();
  }
  context.textBaseline = "bottom";
  context.fillText(`−${duration(seconds)}`, 2, height);
  context.textAlign = "end";
  context.fillText("0", width - 2, height);
  context.textAlign = "start";
}

/**
 * The speeds of the lines, legible over the area.
 * @param {{context: CanvasRenderingContext2D, style: CSSStyleDeclaration}} drawing
 * @param {(value: number) => number} y
 * @param {number} top
 */
function drawScale({ context, style }, y, top) {
  context.fillStyle = style.getPropertyValue("--muted");
  context.strokeStyle = style.getPropertyValue("--ground");
  context.lineWidth = 3;
  for (const part of [0.5, 1]) {
    const line = Math.round(y(top * part)) + 0.5;
    context.textBaseline = part === 1 ? "top" : "bottom";
    const place = /** @type {const} */ ([2, line + (part === 1 ? 2 : -2)]);
    context.strokeText(speed(top * part), ...place);
    context.fillText(speed(top * part), ...place);
  }
}

/** The next of 1, 2, 5, 10, 20, 50, 100, 200, 500 in binary units. @param {number} value */
function roundUp(value) {
  const power = 1024 ** Math.floor(Math.log2(value) / 10);
  return power * ([1, 2, 5, 10, 20, 50, 100, 200, 500].find((step) => step * power >= value) ?? 1024);
}

/**
 * The byte ranges on disk, and the positions of connections.
 * @param {HTMLCanvasElement} canvas `color` is for bytes on disk, `--track` for missing ones, `--mark` for connections
 * @param {{total: number, ranges: [number, number][], lanes: {offset: number}[]}} map
 */
export function drawSegments(canvas, { total, ranges, lanes }) {
  const drawing = prepare(canvas);
  if (!drawing || total <= 0) return;
  const { context, width, height, style } = drawing;
  const tooth = 6;
  const line = 14;
  const lines = Math.max(1, Math.floor((height + 4) / (line + 4)));
  const perLine = total / lines;
  for (let index = 0; index < lines; index += 1) {
    const top = index * (line + 4);
    const start = index * perLine;
    const end = start + perLine;
    context.save();
    clipToTeeth(context, top, width, line, tooth);
    context.fillStyle = style.getPropertyValue("--track");
    context.fillRect(0, top, width, line);
    context.fillStyle = style.color;
    for (const [from, to] of ranges) {
      if (to <= start || from >= end) continue;
      const left = ((Math.max(from, start) - start) / perLine) * width;
      const right = ((Math.min(to, end) - start) / perLine) * width;
      context.fillRect(left, top, Math.max(1, right - left), line);
    }
    context.restore();
    context.fillStyle = style.getPropertyValue("--mark");
    for (const { offset } of lanes) {
      if (offset < start || offset >= end) continue;
      context.fillRect(Math.min(width - 3, ((offset - start) / perLine) * width), top, 3, line);
    }
  }
}

/** Draws the toothed upper edge of a bar. */
function clipToTeeth(
  /** @type {CanvasRenderingContext2D} */ context,
  /** @type {number} */ top,
  /** @type {number} */ width,
  /** @type {number} */ height,
  /** @type {number} */ tooth,
) {
  context.beginPath();
  context.moveTo(0, top + height);
  for (let left = 0; left < width; left += tooth) {
    context.lineTo(left, top + 4);
    context.lineTo(Math.min(width, left + tooth), top);
  }
  context.lineTo(width, top + height);
  context.clip();
}

/** Matches the canvas' resolution to the screen. @param {HTMLCanvasElement} canvas */
function prepare(canvas) {
  const context = canvas.getContext("2d");
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!context || width === 0) return null;
  const scale = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.globalAlpha = 1;
  context.clearRect(0, 0, width, height);
  return { context, width, height, style: getComputedStyle(canvas) };
}
