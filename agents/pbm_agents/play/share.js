// A game with others: links for players and spectators, what another player asks for, games from a file or a text.

import { button, make } from "./dom.js";

// The addresses of a game, and a place where others' games are opened. `send` asks for links, `open` takes a text.
export function shareDialog({ send, open }) {
  const links = make("ul", { className: "pbm-links" });
  const text = make("textarea", { ariaLabel: "a record or a link", rows: 4, placeholder: "or paste a record or a link here" });
  const file = make("input", { type: "file", accept: ".jsonl,.json,.txt", ariaLabel: "a file of records",
    onchange: async () => take(await file.files[0].text()) });
  const close = button("✕", () => dialog.close(), { ariaLabel: "close" });
  const sharing = make("section", {}, make("h3", { textContent: "Play together" }), links);
  const dialog = make("dialog", { className: "pbm-dialog", ariaLabel: "Share and open" },
    make("div", { className: "pbm-dialog-head" }, make("h2", { textContent: "Share and open" }), close), sharing,
    make("section", {}, make("h3", { textContent: "Open a game" }), make("div", { className: "pbm-row" }, file), text,
      make("div", { className: "pbm-row" }, button("Open", () => take(text.value)))));

  function take(given) {
    dialog.close();
    text.value = file.value = "";
    if (given.trim()) open(given.trim());
  }

  // Put a link on a line of the list, with a button that copies it.
  function put(item, address) {
    const field = make("input", { readOnly: true, value: address, ariaLabel: "link" });
    const copy = button("Copy", async () => {
      field.select();
      try {
        await navigator.clipboard.writeText(address);
        copy.textContent = "Copied";
      } catch {
        document.execCommand("copy"); // pages without https have no clipboard
      }
    });
    item.querySelector(".pbm-row")?.remove();
    item.append(make("div", { className: "pbm-row" }, field, copy));
  }

  return {
    dialog,
    // `online`: others can be invited; `linked`: the page takes links of positions.
    open(position, online, linked) {
      const { role, others, watches } = position.table, link = linked && position.linkable;
      sharing.hidden = watches || !(online || link);
      const seats = role === "here" && !position.curtain ? position.players.map((_, seat) => seat)
        .filter((seat) => position.seats[seat] === "person" && !others.includes(seat) && seat !== position.seat) : [];
      const alone = position.seats.filter((name) => name === "person").length < 2;
      const items = seats.map((seat) => [seat, null, `Invite Player ${seat + 1}`, "Whoever opens the link plays this seat."]);
      items.push([null, null, "Invite spectators", "They see what all players can see."]);
      const hides = !position.linkable && !position.curtain && position.seats[position.seat] === "person";
      if (hides) items.push([null, position.seat, "Show spectators your side", "Whoever opens this link sees what you see."]);
      links.replaceChildren(...(online ? items : []).map(([seat, view, label, about]) => {
        const item = make("li", {}, button(label, () => send({ do: "invite", seat, view })), make("small", { textContent: about }));
        item.dataset.link = `${seat} ${view}`;
        return item;
      }));
      if (position.table.shown?.includes(position.seat)) {
        links.append(make("li", {}, button("Show your side no longer", () => {
          dialog.close();
          send({ do: "conceal", seat: position.seat });
        })));
      }
      if (alone && online) links.append(make("li", {}, make("small", { textContent: "To play against somebody else, begin a new game "
        + "with another person as opponent, and invite them here." })));
      if (link) {
        links.append(make("li", {}, make("small", { textContent: "This position, for anybody:" })));
        put(links.lastChild, positionLink(position, online ? [] : position.seats));
      }
      dialog.showModal();
      close.focus();
    },
    showLink({ seat, view, address }) {
      const item = [...links.children].find((each) => each.dataset.link === `${seat} ${view}`);
      if (item) put(item, `${location.origin}/?game=${address}`);
    },
  };
}

// The link of a position without hidden information: game, options and moves; without a server also who plays.
function positionLink(position, players) {
  const given = new URLSearchParams({ game: position.game });
  for (const [name, value] of Object.entries(position.options)) given.append("option", `${name}=${value}`);
  if (position.clock) given.set("clock", position.clock.control);
  if (position.board) given.set("board", position.board);
  if (position.ply) given.set("moves", position.moves.slice(0, position.ply).map((each) => each.move).join(" "));
  for (const name of players) given.append("player", name);
  return `${location.origin}${location.pathname}#${given}`;
}

// The message that begins the game of a position's link; null if it is none.
export function startOfLink(hash) {
  const given = new URLSearchParams(hash.replace(/^.*#/, ""));
  if (!given.get("game")) return null;
  return { do: "new", game: given.get("game"), options: given.getAll("option"), players: ["person", "person"], seed: "",
    board: given.get("board") ?? "", moves: given.get("moves") ?? "",
    clock: given.get("clock") ?? "" };
}

// A takeback or rematch that waits for consent.
export function consentBanner({ send }) {
  const banner = make("div", { className: "pbm-banner pbm-offer", role: "status", hidden: true });
  return {
    banner,
    show({ request }) {
      banner.hidden = !request;
      if (!request) return banner.replaceChildren();
      const what = request.what === "undo" ? "take a move back" : "play again";
      banner.replaceChildren(...(request.mine
        ? [make("span", { textContent: `You asked to ${what}.` }), button("Withdraw", () => send({ do: "decline" }))]
        : [make("span", { textContent: `The other player asks to ${what}.` }), button("Agree", () => send({ do: "agree" })),
          button("Decline", () => send({ do: "decline" }))]));
    },
  };
}
