// What translated Python (`translate.py`) calls: Python's operators, built-in functions and methods, and the little of
// NumPy that the table of a board uses. Lists and tuples are arrays, dicts are maps.

import { Generator, derive } from "./random.mjs";

export class Exception extends Error {}
export const BaseException = Exception;
export class ValueError extends Exception {}
export class KeyError extends Exception {}
export class RuntimeError extends Exception {}
export class NotImplementedError extends Exception {}
export class ImportError extends Exception {}
export class ZeroDivisionError extends Exception {}
export class RecursionError extends Exception {}
const theirTypeError = globalThis.TypeError;
export { theirTypeError as TypeError };

const kinds = (kind) => (Array.isArray(kind) ? kind.flatMap((each) => kinds(each)) : [kind]);
export const isexc = (error, kind) => kinds(kind).some((each) => each === Exception || error instanceof each);
export const caught = (error) => error;
export const raised = (thing) => (typeof thing === "function" ? new thing() : thing);

// Kinds of values

export class NoneType {}
export const isRecord = (thing) => thing !== null && typeof thing === "object" && (thing.constructor.params !== undefined || thing.constructor.floats);

export function isinstance(thing, kind) {
  return kinds(kind).some((each) => {
    if (each === str) return typeof thing === "string";
    if (each === bool) return typeof thing === "boolean";
    if (each === int) return typeof thing === "bigint" || typeof thing === "boolean" || Number.isInteger(thing);
    if (each === float) return typeof thing === "number" && !Number.isInteger(thing);
    if (each === list) return Array.isArray(thing) && !Object.isFrozen(thing);
    if (each === tuple) return Array.isArray(thing) && Object.isFrozen(thing);
    if (each === dict) return thing instanceof Map;
    if (each === NoneType) return thing === null;
    if (each === Exception) return thing instanceof Error;
    if (each === bytes) return thing instanceof Uint8Array;
    return typeof each === "function" && thing instanceof each;
  });
}

export const type = (thing) => thing.kind ?? thing.constructor;

/** A tuple that is a constant; other tuples are like lists. */
export const frozen = Object.freeze;

/** Whether a value counts as true. */
export function t(thing) {
  if (typeof thing === "object" && thing !== null) {
    if (Array.isArray(thing)) return thing.length > 0;
    if (thing instanceof Map || thing instanceof Set) return thing.size > 0;
    if (thing instanceof Array_) return thing.size === 1 ? t(thing.data[0]) : fail("the truth of an array");
    return true;
  }
  return Boolean(thing);
}
const fail = (what) => {
  throw new theirTypeError(`not defined here: ${what}`);
};
export function both(value, ...rest) {
  for (const next of rest) {
    if (!t(value)) return value;
    value = next();
  }
  return value;
}
export function either(value, ...rest) {
  for (const next of rest) {
    if (t(value)) return value;
    value = next();
  }
  return value;
}

// Keywords

class Keywords {
  constructor(given) {
    Object.assign(this, given);
  }
}
export const kw = (given) => new Keywords(given);
const splitKw = (args) => (args.at(-1) instanceof Keywords ? [args.slice(0, -1), args.at(-1)] : [args, {}]);

/** Call a function with keywords, whose parameters are `names`. */
export function call(target, args, keywords, names = target.params) {
  const isClass = typeof target === "function" && /^class/.test(Function.prototype.toString.call(target));
  const invoke = (given) => (isClass ? new target(...given) : target(...given));
  return invoke(place(args, keywords, names));
}
function place(args, keywords, names) {
  if (!keywords) return args;
  if (!names?.length) return [...args, keywords];
  const given = [...args], rest = new Map();
  for (const [name, value] of keywords) {
    const at = names.indexOf(name);
    if (at >= 0) given[at] = value;
    else rest.set(name, value);
  }
  if (rest.size) given[names.length - 1] = rest;
  return Array.from(given);
}
export function callkw(owner, name, args, keywords) {
  const table = tableOf(owner);
  if (table || owner instanceof Array_) return m(owner, name, ...args, new Keywords(Object.fromEntries(keywords)));
  let names;
  for (let kind = owner.constructor; kind && !names; kind = Object.getPrototypeOf(kind)) names = kind.signatures?.[name];
  if (typeof owner === "function") names = owner.signatures?.[name];
  const target = owner[name];
  if (!names && /^class/.test(Function.prototype.toString.call(target))) return call(target, args, keywords);
  return target.apply(owner, place(args, keywords, names ?? target.params));
}
export function attr(owner, name) {
  const value = owner[name];
  return typeof value === "function" && !/^class/.test(Function.prototype.toString.call(value)) && owner !== value
    ? (Object.hasOwn(owner, name) ? value : value.bind(owner)) : value;
}
/** A function of texts, numbers and flags that keeps its results. */
export function cached(f) {
  const known = new Map();
  return (...args) => {
    const key = args.map((each) => `${typeof each} ${each}`).join("\0");
    if (!known.has(key)) known.set(key, f(...args));
    return known.get(key);
  };
}
/** Keep the value of a property. */
export function kept(owner, name, value) {
  Object.defineProperty(owner, name, { value });
  return value;
}
export const getattr = (owner, name, otherwise = null) => (owner[name] === undefined ? otherwise : attr(owner, name));

// Operators

const isPlain = (a, b) => typeof a === "number" && typeof b === "number";
const spread = (a, b) => a instanceof Array_ || b instanceof Array_;

export function add(a, b) {
  if (isPlain(a, b) || (typeof a === "string" && typeof b === "string")) return a + b;
  if (Array.isArray(a)) return [...a, ...b];
  return spread(a, b) ? elementwise(a, b, add) : Number(a) + Number(b);
}
export function iadd(a, b) {
  if (!Array.isArray(a)) return add(a, b);
  for (const each of iter(b)) a.push(each);
  return a;
}
export function sub(a, b) {
  if (isPlain(a, b)) return a - b;
  if (a instanceof Fraction) return a.minus(b);
  if (a instanceof Set || a instanceof Iterator_ || b instanceof Set) return new Set([...iter(a)].filter((each) => !contains(b, each)));
  return spread(a, b) ? elementwise(a, b, sub) : a - b;
}
export function mul(a, b) {
  if (isPlain(a, b)) return a * b;
  if (typeof b === "string" || Array.isArray(b)) [a, b] = [b, a];
  if (typeof a === "string") return a.repeat(Math.max(0, Number(b)));
  if (Array.isArray(a)) return Array.from({ length: Math.max(0, Number(b)) }, () => a).flat();
  return spread(a, b) ? elementwise(a, b, mul) : a * b;
}
export function div(a, b) {
  if (spread(a, b)) return elementwise(a, b, div);
  if (Number(b) === 0) throw new ZeroDivisionError("division by zero");
  return a / b;
}
export const floordiv = (a, b) => (spread(a, b) ? elementwise(a, b, floordiv) : Math.floor(a / b));
export const mod = (a, b) => (spread(a, b) ? elementwise(a, b, mod) : ((a % b) + b) % b);
export const divmod = (a, b) => [floordiv(a, b), mod(a, b)];
export const pow = (a, b) => a ** b;
export function or_(a, b) {
  if (a instanceof Map) return new Map([...a, ...b]);
  if (a instanceof Set) return new Set([...a, ...iter(b)]);
  if (typeof a === "boolean" && typeof b === "boolean") return a || b;
  return spread(a, b) ? elementwise(a, b, or_) : a | b;
}
export function and_(a, b) {
  if (a instanceof Set) return new Set([...a].filter((each) => contains(b, each)));
  if (typeof a === "boolean" && typeof b === "boolean") return a && b;
  return spread(a, b) ? elementwise(a, b, and_) : a & b;
}
export const xor = (a, b) => (spread(a, b) ? elementwise(a, b, xor) : a ^ b);
export const shl = (a, b) => (spread(a, b) ? elementwise(a, b, shl) : a << b);
export const shr = (a, b) => (spread(a, b) ? elementwise(a, b, shr) : a >> b);
export const neg = (a) => (a instanceof Array_ ? elementwise(0, a, sub) : -a);
export const pos = (a) => a;
export const invert = (a) => (a instanceof Array_ ? a.map(invert) : typeof a === "boolean" ? !a : ~a);

const fieldwise = (a) => a instanceof States;
export function eq(a, b) {
  if (fieldwise(a)) return a.same(b);
  if (spread(a, b)) return elementwise(a, b, eq);
  return same(a, b);
}
function same(a, b) {
  if (a === b) return true;
  if (typeof a === "boolean" && typeof b === "number") return Number(a) === b;
  if (typeof b === "boolean" && typeof a === "number") return Number(b) === a;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (a instanceof Fraction) return a.compare(b) === 0;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((each, k) => same(each, b[k]));
  if (a instanceof Map) return b instanceof Map && a.size === b.size && [...a].every(([k, v]) => b.has(k) && same(v, b.get(k)));
  if (a instanceof Set) return b instanceof Set && a.size === b.size && [...a].every((each) => b.has(each));
  if (a.isEqual) return a.isEqual(b);
  if (a.constructor !== b.constructor || !isRecord(a)) return false;
  return Object.keys(a).every((name) => same(a[name], b[name]));
}
export function ne(a, b) {
  if (fieldwise(a)) return a.same(b).map(invert);
  return spread(a, b) ? elementwise(a, b, ne) : !same(a, b);
}
/** Compare numbers, texts or sequences: a negative number, 0 or a positive one. */
function order(a, b) {
  if (a instanceof Fraction) return a.compare(b);
  if (Array.isArray(a)) {
    for (let k = 0; k < Math.min(a.length, b.length); k++) {
      const found = order(a[k], b[k]);
      if (found) return found;
    }
    return a.length - b.length;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}
const comparing = (test) => function compare(a, b) {
  return spread(a, b) ? elementwise(a, b, compare) : !Number.isNaN(a) && !Number.isNaN(b) && test(order(a, b));
};
export const lt = comparing((found) => found < 0);
export const le = comparing((found) => found <= 0);
export const gt = comparing((found) => found > 0);
export const ge = comparing((found) => found >= 0);

export function contains(where, what) {
  if (typeof where === "string") return where.includes(what);
  if (where instanceof Map || where instanceof Set) return where.has(what);
  for (const each of iter(where)) if (t(eq(each, what))) return true;
  return false;
}

// Subscripts

export class slice {
  constructor(from, to, step) {
    Object.assign(this, { from, to, step: step ?? 1 });
  }

  /** The numbers that a sequence of this length is asked for. */
  of(length) {
    const clip = (at, low, high) => Math.min(high, Math.max(low, at < 0 ? at + length : at)), found = [];
    if (this.step > 0) {
      const to = clip(this.to ?? length, 0, length);
      for (let k = clip(this.from ?? 0, 0, length); k < to; k += this.step) found.push(k);
    } else {
      const to = this.to === null ? -1 : clip(this.to, -1, length - 1);
      for (let k = clip(this.from ?? length - 1, -1, length - 1); k > to; k += this.step) found.push(k);
    }
    return found;
  }
}

/** An index with a part for each axis; an array is an index of several rows. */
export class Axes {
  constructor(steps) {
    this.steps = steps;
  }
}

export function at(owner, index) {
  if (Array.isArray(owner) || typeof owner === "string") {
    if (index instanceof slice) {
      const found = index.of(owner.length).map((k) => owner[k]);
      return typeof owner === "string" ? found.join("") : found;
    }
    const place = index < 0 ? Number(index) + owner.length : Number(index);
    if (!(place >= 0 && place < owner.length)) throw new KeyError(`index ${index}`);
    return owner[place];
  }
  if (owner instanceof Map) {
    if (!owner.has(index)) throw new KeyError(repr(index));
    return owner.get(index);
  }
  if (owner instanceof Array_ || owner instanceof States || owner instanceof Record) return owner.get(index);
  return [...iter(owner)].at(index); // a NamedTuple
}

export function setitem(owner, index, value) {
  if (owner instanceof Map) owner.set(index, value);
  else if (Array.isArray(owner) && index instanceof slice) {
    const [from = owner.length] = index.of(owner.length), count = index.of(owner.length).length;
    owner.splice(from, count, ...iter(value));
  } else if (Array.isArray(owner)) owner[index < 0 ? index + owner.length : index] = value;
  else owner.set(index, value);
}

export function delitem(owner, index) {
  if (owner instanceof Map) owner.delete(index);
  else if (index instanceof slice) {
    const gone = index.of(owner.length);
    if (gone.length) owner.splice(gone[0], gone.length);
  } else owner.splice(index, 1);
}

export function unpack(value, count, star) {
  const all = [...iter(value)];
  if (star === undefined) {
    if (all.length !== count) throw new ValueError(`${all.length} values: expected ${count}`);
    return all;
  }
  const after = count - star - 1;
  return [...all.slice(0, star), all.slice(star, all.length - after), ...all.slice(all.length - after)];
}

// Iteration

class Iterator_ {
  constructor(values) {
    this.values = values[Symbol.iterator]();
  }

  [Symbol.iterator]() {
    return this.values;
  }
}

export function iter(thing) {
  if (Array.isArray(thing) || typeof thing === "string" || thing instanceof Set) return thing;
  if (thing instanceof Map) return thing.keys();
  if (thing instanceof Array_ || thing instanceof States) return Array.from({ length: thing.shape[0] }, (_, k) => thing.get(k));
  if (thing === null || thing === undefined || typeof thing[Symbol.iterator] !== "function") {
    throw new theirTypeError(`${repr(thing)} is not iterable`);
  }
  return thing;
}
export const items = (thing) => (thing instanceof Map ? thing : new Map(Object.entries(thing)));
export function next(values, ...otherwise) {
  const { value, done } = Array.isArray(values) ? { value: values[0], done: !values.length } : values.next();
  if (!done) return value;
  if (otherwise.length) return otherwise[0];
  throw new RuntimeError("StopIteration");
}
export const iterator = (thing) => iter(thing)[Symbol.iterator]();

export function range(from, to, step = 1) {
  if (to === undefined) [from, to] = [0, from];
  const found = [];
  for (let k = from; step > 0 ? k < to : k > to; k += step) found.push(k);
  return found;
}
export function enumerate(values, ...rest) {
  const [[start = 0], given] = splitKw(rest);
  return [...iter(values)].map((each, k) => [k + (given.start ?? start), each]);
}
export function zip(...columns) {
  const lists = columns.map((each) => [...iter(each)]);
  return Array.from({ length: Math.min(...lists.map((each) => each.length)) }, (_, k) => lists.map((each) => each[k]));
}
export const map = (f, ...columns) => zip(...columns).map((row) => call(f, row));
export const filter = (f, values) => [...iter(values)].filter((each) => t(f === null ? each : call(f, [each])));
export const reversed = (values) => [...iter(values)].reverse();
export const any = (values) => [...iter(values)].some(t);
export const all = (values) => [...iter(values)].every(t);
export const sum = (values, start = 0) => [...iter(values)].reduce((a, b) => add(a, typeof b === "boolean" ? Number(b) : b), start);
export const len = (thing) => (typeof thing === "string" || Array.isArray(thing) ? thing.length : thing instanceof Map || thing instanceof Set ? thing.size : thing.shape[0]);
export function sorted(values, ...rest) {
  const { key, reverse } = splitKw(rest)[1], by = key ? (each) => call(key, [each]) : (each) => each;
  const found = [...iter(values)].map((each) => [by(each), each]).sort(([a], [b]) => (t(reverse ?? false) ? order(b, a) : order(a, b)));
  return found.map(([, each]) => each);
}
function extreme(sign, args) {
  const [given, { key, default: otherwise }] = splitKw(args);
  const values = given.length === 1 ? [...iter(given[0])] : given;
  if (!values.length) {
    if (otherwise !== undefined) return otherwise;
    throw new ValueError("no values");
  }
  const by = key ? (each) => call(key, [each]) : (each) => each;
  let found = values[0], score = by(found);
  for (const each of values.slice(1)) {
    const now = by(each);
    if (sign * order(now, score) > 0) [found, score] = [each, now];
  }
  return found;
}
export const max = (...args) => extreme(1, args);
export const min = (...args) => extreme(-1, args);
export const abs = (value) => (value instanceof Fraction ? value.abs() : value instanceof Array_ ? value.map(abs) : Math.abs(value));
export const pairwise = (values) => zip([...iter(values)], [...iter(values)].slice(1));

// Constructors

export const list = (values = []) => [...iter(values)];
export const tuple = list;
export const set = (values = []) => new Set(iter(values));
export const frozenset = set;
export function dict(values = []) {
  return new Map(values instanceof Map ? values : [...iter(values)].map((pair) => [...iter(pair)]));
}
dict.fromkeys = (names, value = null) => new Map([...iter(names)].map((name) => [name, value]));
export const bool = (thing = false) => t(thing);
export function int(thing = 0) {
  if (typeof thing === "string") {
    if (!/^\s*[-+]?\d+\s*$/.test(thing)) throw new ValueError(`invalid literal for int() with base 10: ${repr(thing)}`);
    const big = BigInt(thing);
    return big > Number.MAX_SAFE_INTEGER ? big : Number(thing);
  }
  if (thing === null || Array.isArray(thing)) throw new theirTypeError(`int() of ${repr(thing)}`);
  return Math.trunc(Number(thing instanceof Array_ ? thing.data[0] : thing));
}
export function index(thing) {
  if (!Number.isInteger(thing)) throw new theirTypeError(`${repr(thing)} is no integer`);
  return thing;
}
export const float = (thing = 0) => (thing instanceof Array_ ? Number(thing.data[0]) : Number(thing));
export const bytes = Uint8Array;

/** Round to the nearest number with so many decimals, halves to the even one. */
export function round(value, digits = null) {
  if (value instanceof Array_) return fail("rounding an array");
  const places = digits ?? 0, half = value * 2 ** (places + 1);
  if (Number.isInteger(half) && Math.abs(half) % 2 === 1 && Number.isInteger(2 * value * 10 ** places)) {
    const below = Math.floor(value * 10 ** places);
    return (below % 2 === 0 ? below : below + 1) / 10 ** places;
  }
  return Number(value.toFixed(places));
}

// Texts

export function str(thing = "") {
  if (typeof thing === "string") return thing;
  if (thing instanceof Error) return thing.message;
  return repr(thing);
}
export function repr(thing) {
  if (thing === null || thing === undefined) return "None";
  if (typeof thing === "boolean") return thing ? "True" : "False";
  if (typeof thing === "string") return quote(thing);
  if (typeof thing === "number" || typeof thing === "bigint") return String(thing);
  if (thing instanceof Float) return thing.toString();
  if (Array.isArray(thing)) return `[${thing.map(repr).join(", ")}]`;
  if (thing instanceof Map) return `{${[...thing].map(([k, v]) => `${repr(k)}: ${repr(v)}`).join(", ")}}`;
  if (thing.toRepr) return thing.toRepr();
  if (isRecord(thing)) return `${thing.constructor.name}(${Object.entries(thing).map(([k, v]) => `${k}=${repr(v)}`).join(", ")})`;
  return String(thing);
}
const printable = (sign) => sign === " " || !/[\p{C}\p{Z}]/u.test(sign);
const escaped = (sign) => {
  const code = sign.codePointAt(0), hex = code.toString(16);
  return { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[sign]
    ?? (code < 256 ? `\\x${hex.padStart(2, "0")}` : code < 65536 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`);
};
function quote(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const signs = [...text].map((sign) => (sign === "\\" || sign === mark ? `\\${sign}` : printable(sign) ? sign : escaped(sign)));
  return mark + signs.join("") + mark;
}

export function format(value, spec) {
  const [, fill, align, comma, width, decimals, kind] = spec.match(/^(?:(.)?([<>^]))?,?(?:(,))?(\d*)(?:\.(\d+))?([a-z]?)$/) ?? fail(`the format ${spec}`);
  let text = str(value);
  if (kind === "g") text = String(Number(Number(value).toPrecision(Number(decimals))));
  else if (kind === "f") text = Number(value).toFixed(Number(decimals));
  if (spec.includes(",")) text = text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const missing = Math.max(0, Number(width || 0) - text.length), side = align ?? (typeof value === "number" ? ">" : "<");
  if (side === "^") return (fill ?? " ").repeat(Math.floor(missing / 2)) + text + (fill ?? " ").repeat(Math.ceil(missing / 2));
  return side === ">" ? (fill ?? " ").repeat(missing) + text : text + (fill ?? " ").repeat(missing);
}
export const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#x27;");
export const chr = (code) => String.fromCodePoint(code);
export const ord = (sign) => sign.codePointAt(0);

const SPACE = /[\s\x1c-\x1f]/;
function strip(text, signs, [left, right]) {
  const out = (sign) => (signs === null || signs === undefined ? SPACE.test(sign) : signs.includes(sign));
  let from = 0, to = text.length;
  while (left && from < to && out(text[from])) from++;
  while (right && to > from && out(text[to - 1])) to--;
  return text.slice(from, to);
}
function template(text, args, given) {
  let next = 0;
  return text.replace(/\{(\w*)(?::([^}]*))?\}/g, (_, name, spec) => {
    const value = name === "" ? args[next++] : /^\d+$/.test(name) ? args[Number(name)] : given[name];
    return spec ? format(value, spec) : str(value);
  });
}

const TEXT = {
  strip: (s, signs) => strip(s, signs, [true, true]),
  lstrip: (s, signs) => strip(s, signs, [true, false]),
  rstrip: (s, signs) => strip(s, signs, [false, true]),
  lower: (s) => s.toLowerCase(),
  upper: (s) => s.toUpperCase(),
  capitalize: (s) => s.slice(0, 1).toUpperCase() + s.slice(1).toLowerCase(),
  split(s, by, most) {
    if (by === undefined || by === null) return s.split(/[\s\x1c-\x1f]+/).filter(Boolean);
    const parts = s.split(by);
    return most === undefined ? parts : [...parts.slice(0, most), ...(parts.length > most ? [parts.slice(most).join(by)] : [])];
  },
  splitlines: (s) => s.split(/\r\n|\r|\n/).filter((line, k, lines) => line || k < lines.length - 1),
  join: (s, values) => [...iter(values)].join(s),
  replace: (s, from, to) => s.replaceAll(from, to),
  startswith: (s, what) => kinds(what).some((each) => s.startsWith(each)),
  endswith: (s, what) => kinds(what).some((each) => s.endsWith(each)),
  removeprefix: (s, what) => (s.startsWith(what) ? s.slice(what.length) : s),
  removesuffix: (s, what) => (what && s.endsWith(what) ? s.slice(0, -what.length) : s),
  partition(s, by) {
    const place = s.indexOf(by);
    return place < 0 ? [s, "", ""] : [s.slice(0, place), by, s.slice(place + by.length)];
  },
  rpartition(s, by) {
    const place = s.lastIndexOf(by);
    return place < 0 ? ["", "", s] : [s.slice(0, place), by, s.slice(place + by.length)];
  },
  find: (s, what, from) => s.indexOf(what, from),
  index(s, what) {
    const place = s.indexOf(what);
    if (place < 0) throw new ValueError("substring not found");
    return place;
  },
  count: (s, what) => s.split(what).length - 1,
  isascii: (s) => /^[\x00-\x7f]*$/.test(s),
  isdigit: (s) => /^\p{Nd}+$/u.test(s),
  isdecimal: (s) => /^\p{Nd}+$/u.test(s),
  isprintable: (s) => [...s].every(printable),
  format: (s, ...args) => template(s, ...splitKw(args)),
  encode: (s) => new TextEncoder().encode(s),
};
const LIST = {
  append: (a, each) => void a.push(each),
  extend: (a, values) => void a.push(...iter(values)),
  insert: (a, k, each) => void a.splice(k, 0, each),
  pop: (a, k = -1) => a.splice(k, 1)[0],
  index(a, what) {
    const place = a.findIndex((each) => same(each, what));
    if (place < 0) throw new ValueError(`${repr(what)} is not in list`);
    return place;
  },
  remove: (a, what) => void a.splice(LIST.index(a, what), 1),
  count: (a, what) => a.filter((each) => same(each, what)).length,
  copy: (a) => [...a],
  sort: (a, ...rest) => void a.splice(0, a.length, ...sorted([...a], ...rest)),
  reverse: (a) => void a.reverse(),
  groups: (a) => a.slice(1).map((each) => each ?? null), // of a match
};
const DICT = {
  get: (d, key, otherwise = null) => (d.has(key) ? d.get(key) : otherwise),
  items: (d) => [...d],
  keys: (d) => new Set(d.keys()),
  values: (d) => [...d.values()],
  update: (d, other) => other.forEach((value, key) => d.set(key, value)),
  setdefault(d, key, value = null) {
    if (!d.has(key)) d.set(key, value);
    return d.get(key);
  },
  pop(d, key, otherwise) {
    const value = d.has(key) ? d.get(key) : otherwise;
    d.delete(key);
    return value;
  },
  copy: (d) => new Map(d),
  clear: (d) => d.clear(),
};
const SET = {
  add: (s, each) => void s.add(each),
  discard: (s, each) => void s.delete(each),
  remove: (s, each) => void s.delete(each),
  update: (s, values) => [...iter(values)].forEach((each) => s.add(each)),
  issuperset: (s, values) => [...iter(values)].every((each) => s.has(each)),
  issubset: (s, values) => [...s].every((each) => contains(values, each)),
  copy: (s) => new Set(s),
};
const NUMBER = { tolist: (n) => n, item: (n) => n, copy: (n) => n };

function tableOf(thing) {
  if (typeof thing === "string") return TEXT;
  if (typeof thing === "number" || typeof thing === "boolean") return NUMBER;
  return Array.isArray(thing) ? LIST : thing instanceof Map ? DICT : thing instanceof Set ? SET : null;
}

/** Call a method of one of Python's own types, or of another object. */
export function m(owner, name, ...args) {
  const table = tableOf(owner), method = table ? table[name] : owner[name];
  if (typeof method !== "function") throw new theirTypeError(`${repr(owner)} has no method ${name}`);
  return table ? method(owner, ...args) : method.apply(owner, args);
}

// Arrays of NumPy

class Array_ {
  constructor(data, shape, written) {
    Object.assign(this, { data, shape, written });
  }

  get size() {
    return this.data.length;
  }

  get ndim() {
    return this.shape.length;
  }

  get width() {
    return this.shape.slice(1).reduce((a, b) => a * b, 1);
  }

  map(f) {
    return new Array_(this.data.map((each) => f(each)), this.shape);
  }

  /** The numbers of the entries that an index names, and the shape that they have. */
  places(index) {
    const steps = index instanceof Axes ? index.steps : [index];
    if (steps.length === 1 && steps[0] instanceof Array_ && steps[0].shape.length === this.shape.length && typeof steps[0].data[0] === "boolean") {
      const found = steps[0].data.flatMap((each, k) => (each ? [k] : []));
      return [found, [found.length]];
    }
    let found = [0], shape = [], width = this.data.length;
    this.shape.forEach((length, axis) => {
      width /= length || 1;
      const step = axis < steps.length ? steps[axis] : new slice(null, null, null);
      const one = typeof step === "number" || typeof step === "boolean" || (step instanceof Array_ && !step.shape.length);
      const rows = one ? [Number(step.data ?? step)] : step instanceof slice ? step.of(length)
        : typeof step.data?.[0] === "boolean" ? step.data.flatMap((each, k) => (each ? [k] : [])) : [...iter(step)];
      found = found.flatMap((base) => rows.map((row) => base + (row < 0 ? row + length : row) * width));
      if (!one) shape.push(rows.length);
    });
    return [found, shape];
  }

  get(index) {
    if (typeof index === "number" && this.shape.length === 1) return this.data[index < 0 ? index + this.data.length : index];
    const [places, shape] = this.places(index);
    return shape.length ? new Array_(places.map((k) => this.data[k]), shape) : this.data[places[0]];
  }

  set(index, value) {
    const [places, shape] = this.places(index), whole = broadcast(value, shape);
    places.forEach((place, k) => (this.data[place] = whole[k]));
    this.written?.(this);
  }

  [Symbol.iterator]() {
    return iter(this)[Symbol.iterator]();
  }

  tolist() {
    return this.shape.length === 1 ? [...this.data] : this.shape.length ? iter(this).map((row) => row.tolist()) : this.data[0];
  }

  copy() {
    return new Array_([...this.data], this.shape);
  }

  astype() {
    return this;
  }

  reshape(...shape) {
    const given = Array.isArray(shape[0]) ? shape[0] : shape, known = given.reduce((a, b) => (b < 0 ? a : a * b), 1);
    return new Array_(this.data, given.map((length) => (length < 0 ? this.data.length / known : length)));
  }

  ravel() {
    return new Array_(this.data, [this.data.length]);
  }

  any(...args) {
    return this.#along(args, (values) => values.some(t));
  }

  all(...args) {
    return this.#along(args, (values) => values.every(t));
  }

  sum(...args) {
    return this.#along(args, (values) => values.reduce((a, b) => a + Number(b), 0));
  }

  max(...args) {
    return this.#along(args, (values) => values.reduce((a, b) => (b > a ? b : a)));
  }

  min(...args) {
    return this.#along(args, (values) => values.reduce((a, b) => (b < a ? b : a)));
  }

  argmax() {
    return this.data.indexOf(this.max());
  }

  argmin() {
    return this.data.indexOf(this.min());
  }

  #along(args, reduce) {
    const [[first], { axis = first, keepdims }] = splitKw(args);
    if (axis === undefined || axis === null) return reduce(this.data);
    const at = axis < 0 ? axis + this.shape.length : axis, length = this.shape[at];
    const inner = this.shape.slice(at + 1).reduce((a, b) => a * b, 1), outer = this.data.length / (length * inner);
    const data = Array.from({ length: outer * inner }, (_, k) => {
      const base = Math.floor(k / inner) * length * inner + (k % inner);
      return reduce(Array.from({ length }, (_, row) => this.data[base + row * inner]));
    });
    return new Array_(data, this.shape.flatMap((each, k) => (k !== at ? [each] : keepdims ? [1] : [])));
  }
}
export { Array_ as NDArray };

const arrayOf = (thing) => (thing instanceof Array_ ? thing : Array.isArray(thing) ? np.array(thing) : new Array_([thing], []));

/** The entries of an array, or of a number, as an array of this shape has them. */
function broadcast(thing, shape) {
  const { data, shape: own } = arrayOf(thing), size = shape.reduce((a, b) => a * b, 1);
  if (data.length === size && own.length === shape.length) return data;
  const wide = [...Array(shape.length - own.length).fill(1), ...own];
  return Array.from({ length: size }, (_, k) => {
    let rest = k, place = 0, step = 1;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const here = rest % shape[axis];
      rest = Math.floor(rest / shape[axis]);
      if (wide[axis] > 1) place += here * step;
      step *= wide[axis];
    }
    return data[place];
  });
}
function commonShape(...shapes) {
  const length = Math.max(...shapes.map((each) => each.length));
  return Array.from({ length }, (_, k) => Math.max(...shapes.map((each) => each[k - length + each.length] ?? 1)));
}
function elementwise(a, b, f) {
  const shape = commonShape(arrayOf(a).shape, arrayOf(b).shape), left = broadcast(a, shape), right = broadcast(b, shape);
  return new Array_(left.map((each, k) => f(each, right[k])), shape);
}

const full = (shape, value) => {
  const lengths = Array.isArray(shape) ? shape : [shape];
  return new Array_(Array(lengths.reduce((a, b) => a * b, 1)).fill(value), lengths);
};
export const np = {
  array(values) {
    if (values instanceof Array_) return values.copy();
    if (!Array.isArray(values)) return new Array_([values], []);
    if (!values.length || !(Array.isArray(values[0]) || values[0] instanceof Array_)) return new Array_([...values], [values.length]);
    const rows = values.map((each) => np.array(each));
    return new Array_(rows.flatMap((row) => row.data), [rows.length, ...rows[0].shape]);
  },
  asarray: (values) => arrayOf(values),
  zeros: (shape, kind) => full(shape, kind === np.bool_ ? false : 0),
  empty: (shape, kind) => np.zeros(shape, kind),
  full,
  arange: (...args) => np.array(range(...args)),
  flatnonzero: (values) => np.array(arrayOf(values).data.flatMap((each, k) => (t(each) ? [k] : []))),
  count_nonzero: (values) => arrayOf(values).data.filter(t).length,
  where(test, a, b) {
    const shape = commonShape(...[test, a, b].map((each) => arrayOf(each).shape));
    const [tests, yes, no] = [test, a, b].map((each) => broadcast(each, shape));
    return new Array_(tests.map((each, k) => (t(each) ? yes[k] : no[k])), shape);
  },
  isnan: (values) => (values instanceof Array_ ? values.map(Number.isNaN) : Number.isNaN(values)),
  repeat(values, count) {
    if (values instanceof States) return values.repeat(count);
    return np.array(iter(arrayOf(values)).flatMap((each) => Array(count).fill(each)));
  },
  bitwise_or: { reduce: (values) => arrayOf(values).data.reduce((a, b) => a | b, 0) },
  random: { default_rng: (seed = null) => (seed instanceof Generator ? seed : new Generator(seed ?? np.random.fresh())),
    fresh: () => BigInt(secrets.randbits(63)) },
  bool_: "bool", int8: "int8", int64: "int64", float32: "float32", float64: "float64",
};

// Records of a game: bytes, with the fields that the build has described

const SETTERS = { i1: "setInt8", b1: "setInt8", u1: "setUint8", i2: "setInt16", i4: "setInt32", f4: "setFloat32", i8: "setBigInt64" };
const READERS = { i1: "getInt8", b1: "getInt8", u1: "getUint8", i2: "getInt16", i4: "getInt32", f4: "getFloat32", i8: "getBigInt64" };

function readField(bytes, [offset, kind, shape], base) {
  const view = new DataView(bytes.buffer, bytes.byteOffset + base + offset), width = Number(kind[1]);
  const length = shape.reduce((a, b) => a * b, 1), reader = READERS[kind], data = [];
  for (let k = 0; k < length; k++) {
    const value = view[reader](k * width, true);
    data.push(kind === "b1" ? value !== 0 : typeof value === "bigint" ? Number(value) : value);
  }
  return data;
}
function writeField(bytes, [offset, kind], base, data) {
  const view = new DataView(bytes.buffer, bytes.byteOffset + base + offset), width = Number(kind[1]), writer = SETTERS[kind];
  data.forEach((value, k) => view[writer](k * width, kind === "i8" ? BigInt(value) : Number(value), true));
}

/** One record of a batch. */
export class Record {
  constructor(bytes, fields, base = 0) {
    Object.assign(this, { bytes, fields, base });
  }

  get dtype() {
    return { names: Object.keys(this.fields) };
  }

  get(name) {
    const field = this.fields[name], data = readField(this.bytes, field, this.base);
    return field[2].length ? new Array_(data, field[2], (array) => writeField(this.bytes, field, this.base, array.data)) : data[0];
  }

  set(name, value) {
    writeField(this.bytes, this.fields[name], this.base, broadcast(value, this.fields[name][2]));
  }

  reshape() {
    return new States(this.bytes.subarray(this.base, this.base + this.fields.itemsize), this.fields);
  }
}

/** A batch of records. `fields` are those of the build's description, and `itemsize`, which is not enumerable. */
export class States {
  constructor(bytes, fields) {
    Object.assign(this, { bytes, fields, itemsize: fields.itemsize });
  }

  get shape() {
    return [this.bytes.length / this.itemsize];
  }

  get dtype() {
    return { names: Object.keys(this.fields) };
  }

  get(index) {
    if (typeof index === "number") return new Record(this.bytes, this.fields, index * this.itemsize);
    if (index instanceof slice) return this.take(index.of(this.shape[0]));
    const field = this.fields[index], [count] = this.shape;
    const data = Array.from({ length: count }, (_, row) => readField(this.bytes, field, row * this.itemsize)).flat();
    return new Array_(data, [count, ...field[2]], (array) => this.set(index, array));
  }

  set(name, value) {
    const field = this.fields[name], [count] = this.shape, width = field[2].reduce((a, b) => a * b, 1);
    const data = broadcast(value, [count, ...field[2]]);
    for (let row = 0; row < count; row++) writeField(this.bytes, field, row * this.itemsize, data.slice(row * width, (row + 1) * width));
  }

  take(rows) {
    const bytes = new Uint8Array(rows.length * this.itemsize);
    rows.forEach((row, k) => bytes.set(this.bytes.subarray(row * this.itemsize, (row + 1) * this.itemsize), k * this.itemsize));
    return new States(bytes, this.fields);
  }

  repeat(count) {
    return this.take(range(this.shape[0]).flatMap((row) => Array(count).fill(row)));
  }

  copy() {
    return new States(this.bytes.slice(), this.fields);
  }

  reshape() {
    return this;
  }

  /** Whether the records are equal, as an array. */
  same(other) {
    const names = Object.keys(this.fields), [count] = this.shape;
    const equal = (row) => names.every((name) => {
      const a = readField(this.bytes, this.fields[name], row * this.itemsize), b = readField(other.bytes, this.fields[name], row * this.itemsize);
      return a.every((each, k) => each === b[k]);
    });
    return np.array(range(count).map(equal));
  }
}

// Modules

export const math = { ...Object.fromEntries(Object.getOwnPropertyNames(Math).map((name) => [name, Math[name]])), inf: Infinity, pi: Math.PI };
const { sin, cos, sqrt, hypot, ceil, floor } = Math;
export { sin, cos, sqrt, hypot, ceil, floor };

class Pattern {
  constructor(text) {
    this.text = text.replaceAll("(?P<", "(?<");
  }

  fullmatch(text) {
    return new RegExp(`^(?:${this.text})$`, "u").exec(text);
  }

  match(text) {
    return new RegExp(`^(?:${this.text})`, "u").exec(text);
  }
}
export const re = {
  compile: (text) => new Pattern(text),
  fullmatch: (pattern, text) => new Pattern(pattern).fullmatch(text),
  match: (pattern, text) => new Pattern(pattern).match(text),
  sub: (pattern, by, text) => text.replace(new RegExp(pattern, "gu"), (...found) => (typeof by === "function" ? by(found) : by.replace(/\\(\d)/g, (_, k) => found[Number(k)]))),
  findall: (pattern, text) => [...text.matchAll(new RegExp(pattern, "gu"))].map((found) => (found.length > 2 ? found.slice(1) : found[found.length - 1])),
};
/** A number that Python writes with a point. */
export class Float extends Number {
  toString() {
    return Number.isInteger(this.valueOf()) ? `${this.valueOf()}.0` : String(this.valueOf());
  }
}
const floating = (value) => (typeof value === "number" ? new Float(value) : Array.isArray(value) ? value.map(floating) : value);
export function asdict(thing) {
  if (Array.isArray(thing)) return thing.map(asdict);
  if (!isRecord(thing) || thing instanceof Map) return thing;
  const { floats = [] } = thing.constructor;
  return new Map(Object.entries(thing).map(([name, value]) => [name, floats.includes(name) ? floating(value) : asdict(value)]));
}
function dumps(thing) {
  if (thing instanceof Float) return thing.toString();
  if (Array.isArray(thing)) return `[${thing.map(dumps).join(", ")}]`;
  if (thing instanceof Map) return `{${[...thing].map(([k, v]) => `${JSON.stringify(String(k))}: ${dumps(v)}`).join(", ")}}`;
  return JSON.stringify(thing);
}
/** JSON's objects as maps. */
export function fromJson(thing) {
  if (Array.isArray(thing)) return thing.map(fromJson);
  return thing !== null && typeof thing === "object" ? new Map(Object.entries(thing).map(([k, v]) => [k, fromJson(v)])) : thing;
}
/** Maps as JSON's objects. */
export function toJson(thing) {
  if (Array.isArray(thing)) return thing.map(toJson);
  if (thing instanceof Map) return Object.fromEntries([...thing].map(([k, v]) => [k, toJson(v)]));
  return thing instanceof Array_ ? thing.tolist() : thing;
}
export const json = {
  dumps,
  loads(text) {
    try {
      return fromJson(JSON.parse(text));
    } catch (error) {
      throw new ValueError(error.message);
    }
  },
};

const copyOf = (thing) => Object.assign(Object.create(Object.getPrototypeOf(thing)), thing);
export const copy = { copy: copyOf };
export const replace = (thing, given) => Object.assign(copyOf(thing), given);
export const dataclasses = { replace, asdict };
export const vars = (thing) => new Map(Object.entries(thing));

class Event {
  on = false;

  set() {
    this.on = true;
  }

  is_set() {
    return this.on;
  }
}
export const threading = { Event, RLock: () => ({}), Thread: class {
  constructor({ target, args = [] }) {
    this.start = () => void target(...args);
    this.is_alive = () => false;
  }
} };
export const secrets = {
  randbits(bits) {
    const [high, low] = crypto.getRandomValues(new Uint32Array(2));
    return Number((((BigInt(high) << 32n) | BigInt(low)) & ((1n << 53n) - 1n)) >> BigInt(Math.max(0, 53 - bits)));
  },
  token_urlsafe: () => String(secrets.randbits(53)),
};
export const sys = { intern: (text) => text };
export const itertools = { pairwise };
export const time = { monotonic: () => performance.now() / 1000, time: () => Date.now() / 1000 };

/** Python's `fractions.Fraction`. */
export class Fraction {
  constructor(text) {
    const found = String(text).match(/^(\d*)(?:\/(\d+)|\.(\d*))?$/);
    if (!found || !/\d/.test(String(text))) throw new ValueError(`Invalid literal for Fraction: ${repr(text)}`);
    const [, whole, below, decimals = ""] = found;
    this.top = BigInt(`${whole}${decimals}` || "0");
    this.bottom = below === undefined ? 10n ** BigInt(decimals.length) : BigInt(below);
    if (this.bottom === 0n) throw new ZeroDivisionError(`Fraction(${whole}, 0)`);
  }

  static of(top, bottom) {
    return Object.assign(new Fraction("0"), { top, bottom });
  }

  minus(other) {
    return Fraction.of(this.top * other.bottom - other.top * this.bottom, this.bottom * other.bottom);
  }

  abs() {
    return Fraction.of(this.top < 0n ? -this.top : this.top, this.bottom);
  }

  compare(other) {
    const found = this.top * other.bottom - other.top * this.bottom;
    return found < 0n ? -1 : found > 0n ? 1 : 0;
  }
}

export const stream = (key, ...purpose) => new Generator(derive(repr_tuple([key, ...purpose])));
const repr_tuple = (values) => `(${values.map(repr).join(", ")}${values.length === 1 ? "," : ""})`;
