// The form for a new game: game, opponent, side, size; everything else under "Variants".

import { button, make } from "./dom.js";

const OTHER = "other";
const YOU = "person";
const CLOCKS = [["", "none"], ["60", "1 minute each"], ["180+2", "3 minutes each, and 2 s for each move"],
  ["600", "10 minutes each"], ["15/move", "15 seconds per move"], ["60/move", "1 minute per move"]];

export function newGameForm({ send, askForPictures, ask }) {
  const dialog = make("dialog", { className: "pbm-dialog pbm-new", ariaLabel: "New game" });
  let setup = null;
  let pictures = {}; // of the games, by name, in the colours of now
  let position = null;
  let game = ""; // the name of the one that is chosen
  let inputs = new Map(); // option -> its input
  let opponent, other, side, seats, seed, clock;

  const games = make("div", { className: "pbm-games", role: "radiogroup", ariaLabel: "Game" });
  const about = make("p", { className: "pbm-small" });
  const fields = make("div");
  const wrong = make("p", { className: "pbm-telling pbm-error", role: "alert", hidden: true });
  const start = make("button", { textContent: "Start", className: "pbm-primary" });
  const lesson = button("Lesson", () => learn("lesson"), { title: "learn the game on the board, in a few steps" });
  const puzzles = button("Puzzles", () => learn("puzzles"));
  const form = make("form", { onsubmit: submit },
    make("div", { className: "pbm-dialog-head" }, make("h2", { textContent: "New game" }),
      button("✕", () => dialog.close(), { ariaLabel: "close" })),
    games, about, make("div", { className: "pbm-row" }, lesson, puzzles), fields, make("div", { className: "pbm-row" }, start, wrong));
  dialog.append(form);

  const chosen = () => setup.games.find(({ name }) => name === game);
  function field(name, input, sentence = "") {
    input.ariaLabel = name; // without the sentence, which is its description
    if (sentence) input.setAttribute("aria-description", sentence);
    return make("label", {}, make("span", { textContent: name }), input,
      ...(sentence ? [make("small", { textContent: sentence, ariaHidden: "true" })] : []));
  }

  function drawGames() {
    games.replaceChildren(...setup.games.map((each) => {
      const radio = make("input", { type: "radio", name: "pbm-game", value: each.name, checked: each.name === game,
        onchange: () => {
          game = each.name;
          drawFields();
        } });
      const image = make("span", { className: "pbm-game-picture", innerHTML: pictures[each.name] ?? "", ariaHidden: "true" });
      return make("label", {}, radio, image, make("span", { textContent: each.title }));
    }));
  }

  const value = (input) => (input.type === "checkbox" ? String(input.checked) : input.value.trim());
  const changed = () => chosen().options.filter((option) => value(inputs.get(option.name)) !== option.default)
    .map(({ name }) => `${name}=${value(inputs.get(name))}`);
  const askForChoices = () => ask({ do: "choices", game, options: changed() }); // some depend on others

  function setChoices(input, choices) {
    const now = input.value;
    input.replaceChildren(...choices.map((choice) => make("option", { textContent: choice })));
    input.value = now;
  }

  function optionInput(option, value) {
    if (option.choices.join() === "true,false") return make("input", { type: "checkbox", checked: value === "true" });
    const input = option.choices.length ? make("select", { onchange: askForChoices }) : make("input", { placeholder: option.allowed });
    setChoices(input, option.choices.includes(value) ? option.choices : [value, ...option.choices]);
    input.value = value;
    input.title = option.allowed;
    return input;
  }

  function drawFields() {
    const now = chosen();
    const same = position?.game === now.name ? position : null;
    about.textContent = now.about;
    lesson.hidden = !now.lesson;
    puzzles.hidden = !now.puzzles;
    inputs = new Map(now.options.map((option) => [option.name,
      optionInput(option, same?.options?.[option.name] ?? option.default)]));
    const agent = same?.seats?.find((name) => name !== YOU) ?? now.levels[2].agent;
    opponent = make("select", { onchange: () => (other.parentElement.hidden = opponent.value !== OTHER) });
    opponent.append(...now.levels.map((level) => make("option", { value: level.agent, textContent: `${level.name} – ${level.about}${level.rating === null ? "" : `, rated ${level.rating}`}` })),
      make("option", { value: YOU, textContent: "Another person, at this screen" }), make("option", { value: OTHER, textContent: "Another agent" }));
    const agents = make("datalist", { id: `pbm-agents-${Math.random().toString(36).slice(2)}` });
    agents.append(...setup.agents.map((name) => make("option", { value: name })));
    other = make("input", { value: agent });
    other.setAttribute("list", agents.id);
    opponent.value = now.levels.some((level) => level.agent === agent) || agent === YOU ? agent : OTHER;
    side = make("select");
    clock = make("select");
    const own = same?.clock && !CLOCKS.some(([value]) => value === same.clock.control) ? [[same.clock.control, same.clock.words]] : [];
    clock.append(...[...CLOCKS, ...own].map(([value, textContent]) => make("option", { value, textContent })));
    clock.value = same?.clock?.control ?? "";
    seed = make("input", { inputMode: "numeric", placeholder: "any" });
    const rest = now.options.filter((option) => !option.first);
    const entry = (option) => {
      const row = field(option.name.replace(/^num_/, "number of ").replaceAll("_", " "), inputs.get(option.name), option.about);
      row.classList.toggle("pbm-check", inputs.get(option.name).type === "checkbox");
      return row;
    };
    seats = make("input", { placeholder: "by seat, such as: person, random" });
    fields.replaceChildren(field("Opponent", opponent), field("Agent", other), agents, field("Side", side),
      ...(now.clock === false ? [] : [field("Clock", clock)]), // without a server no clock runs
      ...now.options.filter((option) => option.first && option.name !== "base").map(entry),
      make("details", {}, make("summary", { textContent: "Variants" }),
        ...now.options.filter((option) => option.name === "base").map(entry), ...rest.map(entry),
        field("Seats", seats, "Instead of opponent and side: each seat in order; agents only, to watch them."),
        field("Seed", seed, "The same seed draws the same start.")));
    other.parentElement.hidden = opponent.value !== OTHER;
    const count = inputs.get("num_players");
    const drawSides = () => {
      const players = Number(count?.value ?? now.players) || 2;
      const mine = same?.seats?.length === players ? same.seats.indexOf(YOU) : 0;
      side.replaceChildren(...Array.from({ length: players }, (_, seat) =>
        make("option", { value: seat, textContent: ["First", "Second", "Third"][seat] ?? `Seat ${seat + 1}` })),
      make("option", { value: "random", textContent: "By chance" }));
      side.value = Math.max(0, mine);
    };
    count?.addEventListener("input", drawSides);
    drawSides();
    showError("");
    if (changed().length) askForChoices();
  }

  function players() {
    const typed = seats.value.split(",").map((name) => name.trim()).filter(Boolean);
    if (typed.length) return typed;
    const count = side.options.length - 1;
    const mine = side.value === "random" ? Math.floor(Math.random() * count) : Number(side.value);
    const name = opponent.value === OTHER ? other.value.trim() : opponent.value;
    return Array.from({ length: count }, (_, seat) => (seat === mine ? YOU : name));
  }

  function submit(event) {
    event.preventDefault();
    showError("");
    start.disabled = true;
    send({ do: "new", game, options: changed(), players: players(), seed: seed.value, clock: clock.value });
  }

  function learn(kind) {
    dialog.close();
    send({ do: "exercise", game, kind, number: 0 });
  }

  function showError(text) {
    wrong.hidden = !text;
    wrong.textContent = text;
    start.disabled = false;
  }

  return {
    dialog,
    setUp(message) {
      setup = message;
      if (dialog.open) askForPictures(); // the colours have changed; what was chosen stays
      else pictures = {};
    },
    setPictures(svg) { // one after the other, as their rules are compiled
      pictures = { ...pictures, ...svg };
      setup.games.forEach(({ name }, number) => {
        const place = games.querySelectorAll(".pbm-game-picture")[number];
        if (place) place.innerHTML = pictures[name] ?? "";
      });
    },
    setChoices(message) {
      if (message.game !== game) return;
      for (const [name, input] of inputs) if (input.tagName === "SELECT") setChoices(input, message.choices[name]);
    },
    open(now) {
      if (!setup) return;
      position = now;
      game = setup.games.some(({ name }) => name === now?.game) ? now.game : setup.games[0].name;
      drawGames();
      drawFields();
      if (!Object.keys(pictures).length) askForPictures();
      dialog.showModal();
      games.querySelector(":checked").focus(); // not the button that closes the form
    },
    showError,
    isOpen: () => dialog.open,
    close: () => dialog.close(),
  };
}
