// Elements, and what pages remember.

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export const button = (text, onclick, properties = {}) =>
  make("button", { type: "button", textContent: text, onclick, ...properties });

export function svgElement(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A small picture that comes from the server, with its text for those who do not see it.
export function picture({ svg, text, width }, className) {
  const element = make("span", { className, role: "img", ariaLabel: text, title: text, innerHTML: svg });
  element.firstChild.setAttribute("aria-hidden", "true");
  element.firstChild.removeAttribute("role");
  element.style.setProperty("--width", width);
  return element;
}

export const percent = (share) => `${Math.round(100 * share)}%`;
export const signed = (value) => `${value > 0 ? "+" : ""}${value.toFixed(2)}`;

// A value from -1 to 1 as a share of the whole point, which people read more easily.
export const expected = (value) => percent((value + 1) / 2);

// Storage can be forbidden; then nothing is remembered.
export function remember(storage, name, value) {
  try {
    if (value === null) window[storage].removeItem(name);
    else window[storage].setItem(name, value);
  } catch { /* forbidden or full */ }
}

export function remembered(storage, name) {
  try {
    return window[storage].getItem(name);
  } catch {
    return null;
  }
}

export function preferredTheme() {
  const own = remembered("localStorage", "pbm-theme");
  if (own) return own;
  const jupyter = document.body.dataset.jpThemeLight;
  if (jupyter !== undefined) return jupyter === "true" ? "light" : "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

// Of a page that has only a board

export function pageTitle(position, mine, lost) {
  const game = position?.title ?? "pbm_envs";
  const state = lost ? "Connection lost" : position?.headline?.split(": ")[0];
  document.title = `${mine ? "● " : ""}${state ? `${state} – ` : ""}${game}`;
}

// The part of the address after "#", once: it begins a game.
export function takeHash() {
  const { hash } = location;
  if (hash) history.replaceState(null, "", location.pathname + location.search);
  return hash;
}
