// QR codes (ISO/IEC 18004): bytes, level M, versions 1 to 10, which is up to 213 bytes.

/** Of each version at level M: correction bytes of a block, and how many blocks have how many data bytes. @type {[number, [number, number][]][]} */
const versions = [
  [10, [[1, 16]]], [16, [[1, 28]]], [26, [[1, 44]]], [18, [[2, 32]]], [24, [[2, 43]]],
  [16, [[4, 27]]], [18, [[4, 31]]], [22, [[2, 38], [2, 39]]], [22, [[3, 36], [2, 37]]], [26, [[4, 43], [1, 44]]],
];

/** Where alignment patterns have their centres. */
const centres = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];

/**
 * The modules of a code, dark ones true; null if the text is too long.
 * @param {string} text
 * @returns {boolean[][] | null}
 */
export function qrCode(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const index = versions.findIndex((_, at) => bytes.length <= dataLength(at) - (at < 9 ? 2 : 3));
  if (index < 0) return null;
  const bits = codewords(bytes, index).flatMap((byte) => bitsOf(byte, 8));
  let best = null;
  let least = Infinity;
  for (let mask = 0; mask < 8; mask += 1) {
    const modules = drawn(index, bits, mask);
    const penalty = penaltyOf(modules);
    if (penalty < least) [best, least] = [modules, penalty];
  }
  return best;
}

/** @param {number} index of a version */
const dataLength = (index) => versions[index][1].reduce((sum, [blocks, length]) => sum + blocks * length, 0);

/** @param {number} value @param {number} count */
const bitsOf = (value, count) => Array.from({ length: count }, (_, bit) => (value >> (count - 1 - bit)) & 1);

/** The data with its length, padded and in blocks with their correction bytes, interleaved. @param {number[]} bytes @param {number} index */
function codewords(bytes, index) {
  const length = dataLength(index);
  const bits = [0, 1, 0, 0, ...bitsOf(bytes.length, index < 9 ? 8 : 16), ...bytes.flatMap((byte) => bitsOf(byte, 8))];
  while (bits.length < length * 8 && (bits.length % 8 !== 0 || bits.length < bytes.length * 8 + 16)) bits.push(0);
  const data = [];
  for (let start = 0; start < bits.length; start += 8) data.push(parseInt(bits.slice(start, start + 8).join(""), 2));
  for (let pad = 0xec; data.length < length; pad ^= 0xec ^ 0x11) data.push(pad);
  const [corrections, groups] = versions[index];
  const blocks = [];
  for (const [count, size] of groups) for (let block = 0; block < count; block += 1) blocks.push(data.splice(0, size));
  const checks = blocks.map((block) => remainder(block, corrections));
  const inTurn = (/** @type {number[][]} */ lists) =>
    Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, at) => lists.flatMap((list) => (at < list.length ? [list[at]] : []))).flat();
  return [...inTurn(blocks), ...inTurn(checks)];
}

// MARK: Reed-Solomon, in the field of 256 elements of the polynomial 0x11D

/** @type {number[]} */
const powers = [];
/** @type {number[]} */
const logarithms = [];
for (let power = 0, value = 1; power < 255; power += 1) {
  powers[power] = value;
  logarithms[value] = power;
  value = (value << 1) ^ (value > 127 ? 0x11d : 0);
}

/** @param {number} one @param {number} other */
const product = (one, other) => (one === 0 || other === 0 ? 0 : powers[(logarithms[one] + logarithms[other]) % 255]);

/** The correction bytes of a block. @param {number[]} block @param {number} count */
function remainder(block, count) {
  let generator = [1];
  for (let power = 0; power < count; power += 1) {
    const next = [...generator, 0];
    generator.forEach((factor, at) => (next[at + 1] ^= product(factor, powers[power])));
    generator = next;
  }
  const rest = [...block, ...Array(count).fill(0)];
  block.forEach((_, at) => {
    const first = rest[at];
    generator.forEach((factor, offset) => (rest[at + offset] ^= product(factor, first)));
  });
  return rest.slice(block.length);
}

// MARK: drawing

const masks = [
  (/** @type {number} */ x, /** @type {number} */ y) => (x + y) % 2,
  (/** @type {number} */ _, /** @type {number} */ y) => y % 2,
  (/** @type {number} */ x) => x % 3,
  (/** @type {number} */ x, /** @type {number} */ y) => (x + y) % 3,
  (/** @type {number} */ x, /** @type {number} */ y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (/** @type {number} */ x, /** @type {number} */ y) => ((x * y) % 2) + ((x * y) % 3),
  (/** @type {number} */ x, /** @type {number} */ y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (/** @type {number} */ x, /** @type {number} */ y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/** @param {number} index @param {number[]} bits @param {number} mask */
function drawn(index, bits, mask) {
  const size = 21 + 4 * index;
  /** Rows of modules; undefined where data belongs. @type {(boolean | undefined)[][]} */
  const modules = Array.from({ length: size }, () => Array(size).fill(undefined));
  drawPatterns(modules, index);
  drawFormat(modules, index, mask);
  let next = 0;
  // Two columns at a time from the right, upwards and downwards in turn; the sixth column is a pattern.
  for (let right = size - 1, isUp = true; right > 0; right -= right === 8 ? 3 : 2, isUp = !isUp) {
    for (let step = 0; step < size; step += 1) {
      const y = isUp ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (modules[y][x] !== undefined) continue;
        modules[y][x] = (bits[next] === 1) !== (masks[mask](x, y) === 0);
        next += 1;
      }
    }
  }
  return /** @type {boolean[][]} */ (modules);
}

/** Everything but data: the corners, the lines between them, alignment. @param {(boolean | undefined)[][]} modules @param {number} index */
function drawPatterns(modules, index) {
  const size = modules.length;
  const square = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ reach, /** @type {(distance: number) => boolean} */ isDark) => {
    for (let dy = -reach; dy <= reach; dy += 1) {
      for (let dx = -reach; dx <= reach; dx += 1) {
        if (modules[y + dy]?.[x + dx] !== undefined || !(y + dy in modules) || x + dx < 0 || x + dx >= size) continue;
        modules[y + dy][x + dx] = isDark(Math.max(Math.abs(dx), Math.abs(dy)));
      }
    }
  };
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, (distance) => distance !== 2 && distance !== 4);
  const [first, last] = [6, centres[index].at(-1)];
  for (const x of centres[index]) {
    for (const y of centres[index]) {
      const isCorner = x === first && y === first || x === first && y === last || x === last && y === first;
      if (!isCorner) square(x, y, 2, (distance) => distance !== 1);
    }
  }
  for (let at = 8; at < size - 8; at += 1) modules[6][at] = modules[at][6] = at % 2 === 0;
}

/** The mask and, from version 7 on, the version, each with correction bits. @param {(boolean | undefined)[][]} modules @param {number} index @param {number} mask */
function drawFormat(modules, index, mask) {
  const size = modules.length;
  // Level M is 00.
  const format = ((mask << 10) | checked(mask, 10, 0x537)) ^ 0x5412;
  for (let bit = 0; bit < 15; bit += 1) {
    const isDark = ((format >> bit) & 1) === 1;
    modules[bit < 6 ? bit : bit < 8 ? bit + 1 : size - 15 + bit][8] = isDark;
    modules[8][bit < 8 ? size - 1 - bit : bit === 8 ? 7 : 14 - bit] = isDark;
  }
  modules[size - 8][8] = true;
  if (index < 6) return;
  const version = ((index + 1) << 12) | checked(index + 1, 12, 0x1f25);
  for (let bit = 0; bit < 18; bit += 1) {
    const [long, short] = [Math.floor(bit / 3), size - 11 + (bit % 3)];
    modules[long][short] = modules[short][long] = ((version >> bit) & 1) === 1;
  }
}

/** The remainder of a polynomial of bits. @param {number} value @param {number} count @param {number} divisor */
function checked(value, count, divisor) {
  let rest = value;
  for (let step = 0; step < count; step += 1) rest = (rest << 1) ^ ((rest >> (count - 1)) & 1 ? divisor : 0);
  return rest;
}

/** How hard it is to read: the mask with the least is used. @param {boolean[][]} modules */
function penaltyOf(modules) {
  const size = modules.length;
  const lines = [...modules, ...modules.map((_, x) => modules.map((row) => row[x]))].map((line) => line.map(Number).join(""));
  let penalty = 0;
  for (const line of lines) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2;
    penalty += 40 * [...line.matchAll(/(?=00001011101|10111010000)/g)].length;
  }
  let dark = 0;
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      dark += Number(modules[y][x]);
      const isBlock = x > 0 && y > 0 && [modules[y - 1][x], modules[y][x - 1], modules[y - 1][x - 1]].every((other) => other === modules[y][x]);
      penalty += isBlock ? 3 : 0;
    }
  }
  return penalty + 10 * Math.floor(Math.abs((dark / size / size) * 20 - 10));
}
