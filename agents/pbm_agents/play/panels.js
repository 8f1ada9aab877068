// What stands beside the board: seats, notices, the rules.

import { button, make, picture } from "./dom.js";

const QUIET = 3000; // milliseconds without compiling, after which the notice is hidden

const HURRY = 10; // seconds left from which a clock stands out

// One strip a seat: piece, role, name, what it holds, clock: the time left if the game has a clock, else the time used.
export function seatStrips() {
  const above = make("div", { className: "pbm-strips" });
  const below = make("div", { className: "pbm-strips" });
  const used = new Map(); // seat -> seconds
  let running = null;
  let since = 0;
  let limit = null; // the game's clock: {left, running}, and the time at which it arrived

  function tick() {
    const now = performance.now() / 1000;
    if (limit) return countDown(now);
    if (running !== null) used.set(running, (used.get(running) ?? 0) + now - since);
    since = now;
    for (const element of document.querySelectorAll(".pbm-clock")) {
      if (above.contains(element) || below.contains(element)) element.textContent = clock(used.get(Number(element.dataset.seat)) ?? 0);
    }
  }

  function countDown(now) {
    for (const element of [...above.querySelectorAll(".pbm-clock"), ...below.querySelectorAll(".pbm-clock")]) {
      const seat = Number(element.dataset.seat);
      const left = Math.max(0, limit.left[seat] - (seat === limit.running ? now - limit.at : 0));
      element.textContent = clock(Math.ceil(left));
      element.classList.toggle("pbm-hurry", seat === limit.running && left < HURRY);
    }
  }
  const timer = setInterval(tick, 1000);

  function strip(player, seat, move) {
    const parts = [];
    if (player.badge) parts.push(picture(player.badge, "pbm-badge"));
    const name = make("span", { className: "pbm-name" }, make("strong", { textContent: player.role || player.name }),
      ...(player.role ? [make("span", { textContent: player.name })] : []));
    parts.push(name);
    if (move) { // on phones only words: the board marks moves on cells
      parts.push(make("span", { className: /\d/.test(move) ? "pbm-last" : "pbm-last pbm-last-word", textContent: move, title: "the last move" }));
    }
    if (player.holdings) parts.push(picture(player.holdings, "pbm-holdings"));
    if (player.return !== null) {
      const text = player.return === 1 ? "won" : player.return < 0 ? "lost" : "draw";
      parts.push(make("strong", { className: "pbm-return", textContent: text }));
    }
    const time = make("span", { className: "pbm-clock", role: "timer", title: limit?.words ?? "", ariaLabel: limit ? "time left" : "time used", ariaLive: "off" });
    time.dataset.seat = seat;
    const element = make("div", { className: "pbm-strip", role: "group", ariaLabel: `${player.role} ${player.name}`.trim() }, ...parts, time);
    element.classList.toggle("pbm-active", player["to move"]);
    return element;
  }

  return {
    above,
    below,
    show(message) {
      tick();
      limit = message.clock ? { ...message.clock, at: performance.now() / 1000 } : null;
      if (!message.plies) used.clear();
      const latest = message.ply === message.plies;
      const mover = message.players.findIndex((player) => player["to move"]);
      if (latest) running = message.done || mover < 0 || (message.watching && message.watching.opened) ? null : mover;
      const last = message.moves[message.ply - 1]; // words without a cell, such as a swap, are marked nowhere else
      const strips = message.players.map((player, seat) => strip(player, seat, last?.player === seat ? last.move : ""));
      // oneself below the board, the others above it
      const own = Math.max(0, message.seat); // spectators have no seat
      above.replaceChildren(...strips.filter((_, seat) => seat !== own));
      below.replaceChildren(strips[own]);
      tick();
    },
    clear() {
      running = limit = null;
      above.replaceChildren();
      below.replaceChildren();
    },
    stop: () => clearInterval(timer),
  };
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

// Rules are being compiled: what, and a bar that moves with every kernel and never claims to be done.
export function preparingNotice() {
  const text = make("p");
  const bar = make("progress", { max: 1, ariaLabel: "preparing the rules" });
  const notice = make("div", { className: "pbm-preparing pbm-telling", role: "status", hidden: true }, text, bar);
  let pause = null; // a timer: nothing has been compiled for a moment
  function hide() {
    clearTimeout(pause);
    notice.hidden = true;
  }
  return {
    notice,
    show(message) {
      clearTimeout(pause);
      text.textContent = message.text;
      bar.value = message.compiled / message.expected;
      notice.hidden = false;
      if (!message.running) pause = setTimeout(hide, QUIET);
    },
    hide,
  };
}

export function rulesDialog() {
  const title = make("h2");
  const body = make("div", { className: "pbm-rules" });
  const short = make("ul", { className: "pbm-short" });
  const symbols = make("ul", { className: "pbm-symbols" });
  const close = button("✕", () => dialog.close(), { ariaLabel: "close" });
  const dialog = make("dialog", { className: "pbm-dialog pbm-drawer", ariaLabel: "Rules" },
    make("div", { className: "pbm-dialog-head" }, title, close),
    short, make("h3", { textContent: "On this board" }), symbols, body);
  return {
    dialog,
    show(message) {
      title.textContent = `Rules of ${message.title}`;
      symbols.previousSibling.hidden = !message.symbols.length;
      symbols.replaceChildren(...message.symbols.map((symbol) =>
        make("li", {}, picture(symbol, "pbm-badge"), make("span", { textContent: symbol.text }))));
      short.replaceChildren(...message.rules.map(({ text, svg }) =>
        make("li", {}, make("span", { innerHTML: svg, ariaHidden: "true" }), make("p", { textContent: text }))));
      body.innerHTML = message.html;
      dialog.showModal();
      close.focus();
    },
  };
}
