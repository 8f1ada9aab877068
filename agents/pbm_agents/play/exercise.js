// Lessons and puzzles: what is to be done on the board, what is said about it, and the way on.

import { button, make } from "./dom.js";

export function exercisePanel({ send, openForm }) {
  const task = make("p", { className: "pbm-task", role: "status" });
  const said = make("p", { className: "pbm-said", role: "alert" });
  const progress = make("progress", { ariaLabel: "solved" });
  const row = make("div", { className: "pbm-row" });
  const panel = make("section", { className: "pbm-exercise", ariaLabel: "Exercise", hidden: true }, progress, task, said, row);
  const go = (game, kind, number) => send({ do: "exercise", game, kind, number });

  function answering(asks) {
    const answer = (text) => send({ do: "answer", text });
    if (asks === "yes or no") return [button("Yes", () => answer("yes")), button("No", () => answer("no"))];
    const field = make("input", { ariaLabel: "your answer", autocomplete: "off", placeholder: "such as 4 or 3/7" });
    return [make("form", { className: "pbm-row", onsubmit: (event) => {
      event.preventDefault();
      if (field.value.trim()) answer(field.value.trim());
    } }, field, make("button", { textContent: "Check" }))];
  }

  return {
    panel,
    show({ game, exercise }) {
      panel.hidden = !exercise;
      if (!exercise) return;
      const { kind, number, count, state, asks, last } = exercise;
      const solved = state === "right";
      task.textContent = exercise.task;
      said.textContent = exercise.said;
      said.hidden = !exercise.said;
      said.className = `pbm-said pbm-${state}`;
      progress.max = count;
      progress.value = exercise.solved;
      const primary = { className: "pbm-primary" };
      row.replaceChildren(
        ...(solved || asks === "move" ? [] : answering(asks)),
        ...(!last && (solved || kind === "puzzles")
          ? [button(solved ? "Next" : "Another puzzle", () => go(game, kind, number + 1), solved ? primary : {})] : []),
        ...(solved && last ? [button("Play a game", openForm, primary)] : []),
        ...(solved && last && kind === "lesson" && exercise.puzzles ? [button("Puzzles", () => go(game, "puzzles", 0))] : []),
        ...(exercise["can play on"] ? [button("Play on from here", () => send({ do: "branch" }))] : []),
        ...(solved ? [] : [button("Show me", () => send({ do: "reveal" }))]),
        ...(number && kind === "puzzles" ? [button("One back", () => go(game, kind, number - 1))] : []),
        button("Leave", () => send({ do: "leave" }), { title: "back to your game" }));
      if (solved) row.querySelector(".pbm-primary")?.focus({ preventScroll: true });
    },
  };
}
