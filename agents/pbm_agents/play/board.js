// A board to click on, for Jupyter (anywidget) and for the page of `pbm serve` (page.js). It knows no game: pictures,
// legal moves and their cells come as messages, which table.py describes.

import { button, make, preferredTheme, remember, remembered } from "./dom.js";
import { boardOfCells } from "./cells.js";
import { analysisTable, drawMoves, rankOf } from "./marks.js";
import { history } from "./history.js";
import { newGameForm } from "./newgame.js";
import { exercisePanel } from "./exercise.js";
import { preparingNotice, rulesDialog, seatStrips } from "./panels.js";
import { sound } from "./sound.js";
import { consentBanner, shareDialog, startOfLink } from "./share.js";

const PATIENCE = 4000; // milliseconds after which Jupyter's kernel is taken to be gone
const PACES = [["Pause", null], ["Slow", 3], ["Normal", 1], ["Fast", 0]];

function render({ model, el }) {
  let position = null; // the last one received
  let waiting = false; // for an answer
  let underWay = ""; // the move that has been sent
  let nextLook = null; // where to look when the answer has come
  let lost = false; // the connection
  let silence = null; // a timer, until Jupyter's kernel answers
  let offered = false; // the last game
  let asked = null; // at how many plies the values of a finished game were asked for
  let lostFocus = null; // what had the focus before it was switched off
  let note = ""; // of a game that begins
  let replaced = false; // the game of the greeting, by that of a link; then its position, until the link's arrives
  let explaining = null; // the cells that the game was asked about, and what is said if it says nothing
  let theme = preferredTheme();
  const notebook = Boolean(model.get); // there a cell that runs again begins anew, and its last game is offered
  const storageName = `pbm-game${notebook ? `-${model.get("name")}` : ""}`;

  const root = make("div", { className: "pbm" });
  const told = make("p", { className: "pbm-told", role: "status", hidden: true });
  const cells = boardOfCells({ root, play, reply, refuse, explain });
  const strips = seatStrips();
  const tones = sound();
  const preparing = preparingNotice();
  const rules = rulesDialog();
  const moves = history({ look: (ply) => send({ do: "look", ply }), branch: (ply) => send({ do: "branch", ply }),
    values: () => send({ do: "values" }) });
  const exercise = exercisePanel({ send, openForm: () => form.open(position) });
  const share = shareDialog({ send, open: openText });
  const consent = consentBanner({ send });
  const form = newGameForm({ send, ask: (message) => model.send(message), askForPictures: () => model.send({ do: "pictures" }) });

  const title = make("h1", { className: "pbm-title", textContent: "pbm_envs" });
  const goal = make("p", { className: "pbm-goal" });
  const banner = make("div", { className: "pbm-banner", role: "alert", hidden: true });
  const offer = make("div", { className: "pbm-banner pbm-offer", role: "status", hidden: true });
  const headline = make("p", { className: "pbm-headline", role: "status" });
  const result = make("div", { className: "pbm-result", hidden: true });
  const telling = make("p", { className: "pbm-telling", role: "alert", hidden: true });
  const words = make("div", { className: "pbm-row pbm-words" });
  const analysis = make("section", { className: "pbm-analysis", ariaLabel: "Analysis", hidden: true });
  const watching = make("div", { className: "pbm-row pbm-watch", role: "group", ariaLabel: "Speed", hidden: true },
    ...PACES.map(([text, pace]) => button(text, () => setPace(pace))));
  const records = make("details", { className: "pbm-records", hidden: true });
  const typed = make("input", { ariaLabel: "a move", placeholder: "or type a move", autocomplete: "off" });
  const entering = make("button", { textContent: "Play" });
  const writing = make("form", { className: "pbm-row pbm-typing", onsubmit: (event) => {
    event.preventDefault();
    if (typed.value.trim()) play(typed.value);
    typed.value = "";
  } }, typed, entering);

  const undo = button("Undo", () => send({ do: "undo" }), { title: "take your last move back" });
  const hint = button("Hint", () => send({ do: "hint" }), { title: "one good move" });
  const analyse = button("Analyse", () => send({ do: "analyse" }), { title: "the best moves, with what you can expect" });
  const resign = button("Resign", () => {
    if (resign.textContent === "Resign") resign.textContent = "Really resign?";
    else {
      more.open = false;
      play("resign");
    }
  }, { onblur: () => (resign.textContent = "Resign") });
  const save = button("Save", () => send({ do: "save" }));
  const sharing = button("Share and open", () => {
    more.open = false;
    share.open(position, Boolean(model.address), Boolean(model.takeStart));
  });
  const hearing = button("Sound", () => {
    tones.turn(!tones.isOn());
    hearing.ariaPressed = String(tones.isOn());
    tell("note", tones.isOn() ? "Sound is on: a quiet tone for each move." : "Sound is off.");
  }, { ariaPressed: String(tones.isOn()), title: "a quiet tone for each move" });
  const more = make("details", { className: "pbm-more" },
    make("summary", { textContent: "…", ariaLabel: "more", title: "more" }), make("div", {}, resign, save, sharing, hearing));
  const shade = button("◐", () => {
    theme = theme === "dark" ? "light" : "dark";
    remember("localStorage", "pbm-theme", theme);
    root.dataset.theme = theme;
    send({ do: "hello", theme });
  }, { title: "dark or light colours", ariaLabel: "dark or light colours" });
  const help = button("Rules", () => send({ do: "rules" }));
  const lesson = button("Lesson", () => send({ do: "exercise", game: position.game, kind: "lesson", number: 0 }),
    { title: "learn the game on the board, in a few steps" });
  const anew = button("New game", () => form.open(position));
  const again = model.restart ? [button("New game", () => model.restart())] : []; // after a crash

  root.append(
    make("header", { className: "pbm-bar" }, make("div", {}, title, goal), make("div", { className: "pbm-row" }, help, lesson, anew, shade)),
    banner, offer, consent.banner,
    make("div", { className: "pbm-table" },
      make("section", { className: "pbm-main", ariaLabel: "Board" }, headline, preparing.notice, exercise.panel, strips.above, cells.board,
        strips.below, cells.under, told, cells.chooser),
      make("div", { className: "pbm-side" }, result, telling, words,
        make("div", { className: "pbm-row pbm-orders" }, undo, hint, analyse, more), watching, writing, analysis,
        moves.section, records)),
    form.dialog, rules.dialog, share.dialog);
  const untilThere = [help, lesson, anew, undo, hint, analyse, resign, save, sharing, typed, entering]; // nothing looks alive before
  for (const element of untilThere) element.disabled = true;
  moves.section.hidden = true;
  root.dataset.lmSuppressShortcuts = "true"; // Jupyter's, but for saving
  root.dataset.theme = theme;
  el.append(root);
  document.addEventListener("keydown", keys);

  function allowSaving(event) {
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) delete root.dataset.lmSuppressShortcuts;
    else root.dataset.lmSuppressShortcuts = "true";
  }
  window.addEventListener("keydown", allowSaving, true); // before Jupyter, which listens at the document

  function keys(event) {
    if (root.contains(event.target) || (event.target === document.body && document.body.classList.contains("pbm-page"))) {
      if (position && !position.curtain && !position.exercise && !lost) moves.key(event);
    }
  }

  // Orders

  function send(message) {
    if (lost) return;
    if (waiting && message.do === "look") nextLook = message;
    else if (message.do === "new" || message.do === "hello" || !refuse()) order(message);
  }

  const refusal = () => `Wait: ${underWay ? `your move ${underWay} is on its way` : "the last click is still on its way"}.`;

  function refuse() {
    if (waiting) tell("note", refusal());
    return waiting;
  }

  function order(message) {
    nextLook = null;
    wait(true);
    root.dataset.turn = "";
    tell();
    model.send({ ...message, round: position?.round });
    if (notebook) listen();
  }

  // The move is drawn at once; whether it is legal, the answer says.
  function play(move) {
    if (waiting || lost) return send({ do: "play", move });
    send({ do: "play", move });
    underWay = move;
    headline.textContent = `Your move: ${move}`;
    const known = position?.legal.find((each) => each.move === move);
    if (known) drawMoves(cells, [known], (each) => each.call === each.move ? each.move.match(/[a-z]$/)?.[0] ?? "" : "");
  }

  function wait(now) {
    waiting = now;
    if (!now) underWay = "";
    root.classList.toggle("pbm-waiting", now);
    headline.classList.toggle("pbm-busy", now || Boolean(position?.thinking && !position.done));
  }

  function tell(kind = "", text = "") {
    telling.hidden = !text;
    telling.textContent = text;
    telling.className = `pbm-telling pbm-${kind}`;
  }

  // An answer to a click that leads to no move.
  function reply(name, text, from) {
    if (!position || lost) return;
    if (position.ply !== position.plies) return tell("note", "This is an earlier position: go to the last one, or play on from here.");
    if (position.done) return tell("note", "The game is over.");
    if (position.thinking || !position.legal.length) return tell("note", `Wait: ${position.headline}.`);
    const what = text ? `${name}, ${text}` : name;
    if (from) return tell("note", `No move leads from ${from} to ${name}.`);
    if (text.startsWith("enemy")) return tell("note", `${what}: this piece is not yours.`);
    if (text.startsWith("own")) return tell("note", `${what}: this piece is pinned, it cannot move now.`);
    tell("note", text ? `${what}: nothing can be played here now.` : `${name}: no move begins on this cell now.`);
  }

  // What the game says about cells; if that is nothing, `otherwise` answers.
  function explain(about, otherwise = () => {}) {
    explaining = { about: about.join(), otherwise };
    const beginning = position?.explains && position.legal.length && position.plies < 2 && !position.exercise;
    told.textContent = beginning && !about.length ? "Click a piece to see where it can move." : "";
    cells.mark("pbm-range", []);
    if (!about.length) return;
    if (!position?.explains || !position.legal.length || position.ply !== position.plies || lost) otherwise();
    else model.send({ do: "explain", cells: about });
  }

  function showExplanation(message) {
    if (waiting || message.cells.join() !== explaining.about) return;
    told.textContent = message.text;
    if (message.text) cells.mark("pbm-range", message.range);
    else explaining.otherwise();
  }
  // What is shown

  function showTurn() {
    root.dataset.turn = !position ? "" : position.done ? "over" : position.legal?.length ? "mine" : "";
    const mine = root.dataset.turn === "mine" && position.ply === position.plies;
    if (model.title) model.title(position, mine);
  }

  function show(message) {
    const held = root.contains(document.activeElement) ? document.activeElement : null;
    tones.hear(position, message);
    position = { legal: [], since: [], values: [], cells: [], ...message };
    banner.hidden = !lost;
    wait(false);
    showTurn();
    title.textContent = message.title;
    goal.textContent = message.goal;
    told.hidden = !message.explains;
    cells.under.hidden = !told.hidden; // the game itself says more
    help.disabled = lesson.disabled = false;
    lesson.hidden = message.lesson === false || Boolean(message.exercise);
    exercise.show(message);
    root.classList.toggle("pbm-exercising", Boolean(message.exercise));
    if (waitingForNew) form.close();
    waitingForNew = false;
    if (nextLook) return order(nextLook);
    consent.show(message.table);
    sharing.disabled = false;
    if (message.curtain) return drawCurtain();
    if (message.moves.some(({ player, given }) => player === message.seat && !given)) offer.hidden = true;
    if (note) tell("note", note);
    note = "";
    const mover = message.players.findIndex((player) => player["to move"]);
    headline.textContent = message.headline + (message.table.absent.includes(mover) ? " (not connected)" : "");
    const still = message.watching?.pace === 0 || (message.watching?.opened && filmPace === 0);
    if (cells.show(position, still)) resign.textContent = "Resign";
    strips.show(position);
    drawMoves(cells, message.analysis ?? (message.hint ? [message.hint] : []), message.analysis ? rankOf : () => "hint");
    if (message.exercise?.answers.length) drawMoves(cells, message.exercise.answers, () => "");
    if (message.hint && !message.analysis) {
      tell("note", `The hint: ${message.hint.move}${message.hint.sure ? `, ${message.hint.sure}` : ""}.`);
    }
    analysis.replaceChildren(...analysisTable(position, cells, play));
    analysis.hidden = !message.analysis;
    const own = position.legal.filter((move) => !move.cells.length);
    const shown = message.exercise?.answers.map(({ move }) => move) ?? [];
    words.replaceChildren(...own.map((move) => button(move.call, () => play(move.move),
      { className: shown.includes(move.move) ? "pbm-word pbm-primary" : "pbm-word" })));
    if (message["hand over"]) words.append(button("Hide the board and hand over", () => send({ do: "hide" })));
    drawResult(message);
    drawWatching(message);
    const mine = position.legal.length > 0;
    undo.disabled = !message["can undo"];
    hint.disabled = analyse.disabled = resign.disabled = !mine;
    save.disabled = !message["can save"];
    save.title = message["can save"] ? "the record of the game" : "when the game is over: it tells what is hidden";
    analyse.ariaPressed = String(Boolean(message.analysis));
    typed.disabled = entering.disabled = !mine;
    const seated = !message.watching && !message.exercise && !message.table.watches;
    writing.hidden = undo.parentElement.hidden = !seated;
    moves.show(position, false);
    if (message.exercise) moves.section.hidden = true;
    keepFocus(held);
    const known = (position.values[message.plies] ?? null) !== null;
    const wanted = message.done && !message.exercise && message["can analyse"] && message.plies > 1 && !known && !message.thinking;
    if (wanted && seated && asked !== message.plies) {
      asked = message.plies;
      model.send({ do: "values" }); // nobody waits for it
    } else if (!message.done) asked = null;
  }

  // The focus is never lost: the board gets it from a button that is gone; one that was switched off while an agent
  // thinks gets it back.
  function keepFocus(held) {
    if (held?.disabled) lostFocus = held;
    if (held && !root.contains(held) && document.activeElement === document.body) cells.focusCell();
    if (!lostFocus || position.thinking) return;
    const nowhere = document.activeElement === document.body || document.activeElement === lostFocus;
    if (nowhere && root.contains(lostFocus) && !lostFocus.disabled) lostFocus.focus();
    else if (nowhere) cells.focusCell();
    lostFocus = null;
  }

  function drawCurtain() {
    headline.textContent = `${position.curtain} is to move`;
    cells.clear(make("div", { className: "pbm-curtain" },
      make("p", { textContent: `The board is hidden. ${position.curtain} sits down before it, and nobody else.` }),
      button(`I am ${position.curtain}`, () => send({ do: "sit" }))));
    strips.clear();
    words.replaceChildren();
    for (const element of [undo, hint, analyse, resign, save, typed, entering]) element.disabled = true;
    result.hidden = analysis.hidden = moves.section.hidden = true;
    cells.board.querySelector("button").focus();
  }

  function drawResult(message) {
    result.hidden = !message.done || message.exercise || message.ply !== message.plies || Boolean(message.watching?.opened);
    if (result.hidden) return result.replaceChildren();
    if (result.firstChild?.textContent === message.headline) return undefined; // its buttons may have the focus
    return result.replaceChildren(make("h2", { textContent: message.headline }),
      make("div", { className: "pbm-row" }, button("Rematch", () => send({ do: "rematch", exchange: false })),
        button("Exchange seats", () => send({ do: "rematch", exchange: true }))));
  }

  // The speed of a film, or of agents that play each other.
  function setPace(pace) {
    if (!position.watching.opened) return send({ do: "pace", seconds: pace });
    filmPace = pace;
    return drawWatching(position);
  }

  function drawWatching({ watching: state, done, ply, plies }) {
    watching.hidden = !state;
    if (!state) return;
    clearTimeout(film);
    const playing = state.opened && filmPace !== null && ply < plies;
    const current = state.opened ? (playing ? filmPace : null) : state.pace;
    PACES.forEach(([, pace], number) => { // the same buttons, which may have the focus
      watching.children[number].ariaPressed = String(pace === current);
      watching.children[number].disabled = state.opened ? ply === plies : done;
    });
    if (playing) film = setTimeout(() => send({ do: "look", ply: ply + 1 === plies ? null : ply + 1 }), Math.max(150, 1000 * filmPace));
  }
  let film = null;
  let filmPace = null; // seconds for a move of a record that is shown; null: it stands still
  let waitingForNew = false;

  function drawRecords(list) {
    records.hidden = !list?.length;
    if (records.hidden) return;
    const line = (record, number) => make("li", {}, button(`${number + 1}. ${record.agents.join(" – ")}`,
      () => send({ do: "open", number }), { title: `${record.game}, ${record.plies} moves, ${record.ending}` }),
    make("small", { textContent: ` ${record.returns.map((value) => (value > 0 ? `+${value}` : value)).join(" : ")}` }));
    records.replaceChildren(make("summary", { textContent: `Games (${list.length})` }), make("ul", {}, ...list.map(line)));
  }

  // What was pasted: the link of a game or of a position, or records.
  function openText(text) {
    const link = text.match(/[?&]game=([\w.-]+)$/);
    const start = /^\S*#\S+$/.test(text) ? startOfLink(text) : null;
    if (link) send({ do: "hello", theme, resume: link[1] });
    else if (start) send(start);
    else openFile(text);
  }

  // A file of records that is dropped on the page: its games are listed, and sent one by one when they are chosen.
  function openFile(text) {
    const lines = text.split("\n").filter((line) => line.trim());
    let list;
    try {
      list = lines.map((line) => JSON.parse(line));
      if (!list.every((record) => Array.isArray(record.agents) && Array.isArray(record.returns))) throw new Error();
    } catch {
      return tell("error", "This file holds no records of games: expected JSON Lines as `pbm tournament` and Save write them.");
    }
    drawRecords(list);
    records.querySelectorAll("li button").forEach((element, number) => {
      element.onclick = () => send({ do: "open", record: lines[number] });
    });
    records.open = true;
    if (lines.length) send({ do: "open", record: lines[0] });
  }
  el.addEventListener("dragover", (event) => event.preventDefault());
  el.addEventListener("drop", async (event) => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (file) openFile(await file.text());
  });

  function download({ name, text }) {
    const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: "application/jsonl" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // The connection

  function setLost(text, ...buttons) {
    lost = Boolean(text);
    banner.hidden = !lost;
    banner.replaceChildren(make("p", { textContent: text }), ...buttons);
    root.classList.toggle("pbm-lost", lost);
    for (const part of root.querySelectorAll(".pbm-table, .pbm-bar")) part.inert = lost;
    if (lost) {
      preparing.hide();
      for (const dialog of [form.dialog, rules.dialog, share.dialog]) dialog.close();
    }
    if (model.title) model.title(position, false, lost);
  }

  function receive(message) {
    clearTimeout(silence);
    if (message.type === "lost") return setLost(message.text, ...(message.again ? [button("Open it again", message.again)] : again));
    if (message.type === "link") return linked(message);
    if (message.type === "found") return hello();
    if (message.type === "preparing") return preparing.show(message);
    if (message.type === "pictures") return form.setPictures(message.svg);
    if (message.type === "choices") return form.setChoices(message);
    if (message.type === "explained") return showExplanation(message);
    if (message.type === "kept") {
      if (model.keepAddress) model.keepAddress(message.address);
      if (message.played) remember("localStorage", storageName, message.done ? null : message.address);
      return;
    }
    if (lost) setLost("");
    if (replaced === true && message.type === "position") {
      replaced = message;
      return;
    }
    if (replaced?.type && message.type === "error") show(replaced); // the link leads nowhere
    if (["position", "error"].includes(message.type)) replaced = false;
    if (message.type !== "setup") preparing.hide();
    if (!["setup", "note"].includes(message.type)) { // a position follows these
      wait(false);
      showTurn();
    }
    if (message.type === "setup") {
      form.setUp(message);
      anew.disabled = false;
      drawRecords(message.records);
    } else if (message.type === "position") show(message);
    else if (message.type === "rules") rules.show(message);
    else if (message.type === "record") download(message);
    else {
      if (form.isOpen() && message.type === "note") note = message.text;
      else if (form.isOpen()) {
        waitingForNew = false;
        form.showError(message.text);
      } else tell(message.type, message.text);
    }
  }

  function linked(message) {
    wait(false);
    showTurn();
    share.showLink(message);
  }

  function hello() {
    const address = model.address ? model.address() : null;
    if (!address && !offered) offerLast();
    wait(true);
    root.dataset.turn = "";
    model.send({ do: "hello", theme, ...(address ? { resume: address } : {}) });
    const start = model.takeStart ? model.takeStart() : null;
    if (start) model.send(start);
    replaced = Boolean(start);
    if (notebook) listen();
  }

  // A tab that was closed, or a kernel that has ended, has left its game behind.
  function offerLast() {
    const last = remembered("localStorage", storageName);
    offered = true;
    if (!last) return;
    offer.hidden = false;
    offer.replaceChildren(make("span", { textContent: "Your last game was not lost." }),
      button("Go on with it", () => {
        offer.hidden = true;
        send({ do: "hello", theme, resume: last });
      }), button("✕", () => (offer.hidden = true), { ariaLabel: "close" }));
  }

  // Jupyter: if no kernel answers, the picture that the notebook has kept is shown, with a word.
  function listen() {
    clearTimeout(silence);
    silence = setTimeout(() => {
      if (!position) cells.board.innerHTML = model.get("picture") || "";
      setLost("No kernel answers: it is busy, or has been restarted, and this is a picture. If it was restarted, run the "
        + "cell again: it offers to go on with the game.");
    }, PATIENCE);
  }

  const scheme = matchMedia("(prefers-color-scheme: dark)");
  function followSystem() {
    if (theme === preferredTheme()) return; // one's own choice, or Jupyter's, counts more
    theme = preferredTheme();
    root.dataset.theme = theme;
    send({ do: "hello", theme });
  }
  scheme.addEventListener("change", followSystem);
  model.on("msg:custom", receive);
  form.dialog.querySelector("form").addEventListener("submit", () => (waitingForNew = true));
  hello();
  return () => {
    model.off("msg:custom", receive);
    document.removeEventListener("keydown", keys);
    window.removeEventListener("keydown", allowSaving, true);
    scheme.removeEventListener("change", followSystem);
    strips.stop();
    clearTimeout(silence);
    clearTimeout(film);
  };
}

export default { render };
