// An area chart of the speed; the latest second is at the right.

/**
 * @param {HTMLCanvasElement} canvas its style sets the size, `color` the line and `--line` the grid lines
 * @param {number[]} values one per second, the latest last
 * @param {{isQuiet?: boolean}} [options] quiet charts have no grid lines
 */
export function drawSpeeds(canvas, values, { isQuiet = false } = {}) {
  const drawing = prepare(canvas);
  if (!drawing) return;
  const { context, width, height, style } = drawing;
  // The axis spans a minute, or more with more values.
  const seconds = Math.max(60, values.length);
  const top = roundUp(Math.max(1, ...values));
  const x = (/** @type {number} */ index) => width - ((values.length - 1 - index) * width) / (seconds - 1);
  const y = (/** @type {number} */ value) => height - 1 - (value / top) * (height - 3);
  if (!isQuiet) {
    context.strokeStyle = style.getPropertyValue("--line");
    for (const part of [0.5, 1]) {
      context.beginPath();
      context.moveTo(0, Math.round(y(top * part)) + 0.5);
      context.lineTo(width, Math.round(y(top * part)) + 0.5);
      context.stroke();
    }
  }
  if (values.length === 0) return;
  context.beginPath();
  values.forEach((value, index) => context.lineTo(x(index), y(value)));
  context.strokeStyle = style.color;
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.stroke();
  context.lineTo(width, height);
  context.lineTo(x(0), height);
  context.closePath();
  context.globalAlpha = 0.14;
  context.fillStyle = style.color;
  context.fill();
}

/** The next of 1, 2, 5, 10, 20 … @param {number} value */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find((step) => step * power >= value) ?? 10);
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
