// NumPy's random numbers, so that equal seeds draw equal games: `default_rng`, and the streams of `core.randomness`.

const MASK32 = 0xffffffffn, MASK64 = (1n << 64n) - 1n, MASK128 = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

/** NumPy's SeedSequence: words of 32 bits that depend on all bits of a seed. */
function seedWords(seed, count) {
  const entropy = [];
  for (let rest = BigInt(seed); rest > 0n || !entropy.length; rest >>= 32n) entropy.push(Number(rest & MASK32));
  const pool = [0, 0, 0, 0];
  let hash = 0x43b0d7e5;
  const hashed = (value) => {
    value = (value ^ hash) >>> 0;
    hash = Math.imul(hash, 0x931e8875) >>> 0;
    value = Math.imul(value, hash) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  };
  const mixed = (x, y) => {
    const found = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) >>> 0;
    return (found ^ (found >>> 16)) >>> 0;
  };
  for (let k = 0; k < 4; k++) pool[k] = hashed(entropy[k] ?? 0);
  for (let from = 0; from < 4; from++) for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from]));
  for (let from = 4; from < entropy.length; from++) for (let to = 0; to < 4; to++) pool[to] = mixed(pool[to], hashed(entropy[from]));
  let own = 0x8b51f9dd;
  return Array.from({ length: count }, (_, k) => {
    let value = (pool[k % 4] ^ own) >>> 0;
    own = Math.imul(own, 0x58f38ded) >>> 0;
    value = Math.imul(value, own) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  });
}

/** NumPy's `default_rng(seed)`, of which only the raw bits are drawn. */
export class Generator {
  constructor(seed) {
    const words = seedWords(seed, 8).map(BigInt), [a, b, c, d] = [0, 2, 4, 6].map((k) => words[k] | (words[k + 1] << 32n));
    this.step = ((((c << 64n) | d) << 1n) | 1n) & MASK128;
    this.state = 0n;
    this.#advance();
    this.state = (this.state + ((a << 64n) | b)) & MASK128;
    this.#advance();
  }

  #advance() {
    this.state = (this.state * MULTIPLIER + this.step) & MASK128;
  }

  /** Return the next 64 bits. */
  raw() {
    this.#advance();
    const turns = this.state >> 122n, word = (this.state >> 64n) ^ (this.state & MASK64);
    return ((word >> turns) | (word << ((64n - turns) & 63n))) & MASK64;
  }

  /** Return streams of kernels, one for each row: `core.randomness.seeds`. */
  seeds(count) {
    return BigUint64Array.from({ length: count }, () => this.raw());
  }
}

/** A stream of a kernel (SplitMix64). */
function splitMix(seed) {
  let state = seed;
  return (count) => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK64;
    let mixed = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK64;
    mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & MASK64;
    return Number(((mixed ^ (mixed >> 31n)) >> 32n) * BigInt(count) >> 32n);
  };
}

/** Draw one of the legal actions: `core.randomness.sample_actions`, for one game. */
export function sampleAction(mask, rng) {
  const draw = splitMix(rng.raw());
  for (let tries = 0; tries < 6; tries++) {
    const action = draw(mask.length);
    if (mask[action]) return action;
  }
  const legal = [...mask.keys()].filter((action) => mask[action]);
  return legal[draw(legal.length)];
}

const IV = [0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n, 0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n];

const ROUNDS = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4], [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13], [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11], [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5], [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
const QUARTERS = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]];

/** Return BLAKE2b of bytes, as many bytes as asked for. */
export function blake2b(data, size, person = "") {
  const block = new Uint8Array(64), view = new DataView(block.buffer);
  block.set([size, 0, 1, 1]);
  block.set(new TextEncoder().encode(person), 48);
  const h = IV.map((word, k) => word ^ view.getBigUint64(8 * k, true));
  const turn = (word, bits) => ((word >> bits) | (word << (64n - bits))) & MASK64;
  const blocks = Math.max(1, Math.ceil(data.length / 128)), padded = new Uint8Array(128 * blocks);
  padded.set(data);
  const words = new DataView(padded.buffer);
  for (let k = 0; k < blocks; k++) {
    const last = k === blocks - 1, count = BigInt(last ? data.length : 128 * (k + 1));
    const v = [...h, ...IV];
    v[12] ^= count;
    if (last) v[14] ^= MASK64;
    for (let round = 0; round < 12; round++) {
      QUARTERS.forEach(([a, b, c, d], quarter) => {
        const [x, y] = [0, 1].map((half) => words.getBigUint64(128 * k + 8 * ROUNDS[round % 10][2 * quarter + half], true));
        v[a] = (v[a] + v[b] + x) & MASK64;
        v[d] = turn(v[d] ^ v[a], 32n);
        v[c] = (v[c] + v[d]) & MASK64;
        v[b] = turn(v[b] ^ v[c], 24n);
        v[a] = (v[a] + v[b] + y) & MASK64;
        v[d] = turn(v[d] ^ v[a], 16n);
        v[c] = (v[c] + v[d]) & MASK64;
        v[b] = turn(v[b] ^ v[c], 63n);
      });
    }
    for (let j = 0; j < 8; j++) h[j] ^= v[j] ^ v[j + 8];
  }
  const out = new DataView(new ArrayBuffer(64));
  h.forEach((word, k) => out.setBigUint64(8 * k, word, true));
  return new Uint8Array(out.buffer, 0, size);
}

const number = (bytes) => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** Return the number that a text of a key and a purpose determines: `core.randomness.derive`. */
export const derive = (text) => number(blake2b(new TextEncoder().encode(text), 16, "pbm_envs"));

/** Return the number by which an adviser's random stream is named, for what it sees. */
export const seenNumber = (bytes) => number(blake2b(bytes, 8));
