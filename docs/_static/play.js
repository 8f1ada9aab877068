// Puts a board to play on into each `<div data-play="curio">`, in place of the pictures in it. `conf.py` adds this script
// only if `make play` has built the page of the games. `data-start` is the part of its address after "#".

const PLAY = new URL("../play/", document.currentScript.src);

function putBoard(place) {
  const { play, start = "" } = place.dataset, title = play[0].toUpperCase() + play.slice(1);
  const frame = document.createElement("iframe"), link = document.createElement("a"), beside = document.createElement("p");
  const address = new URL(`${play}.html${start ? `#${start}` : ""}`, PLAY);
  Object.assign(frame, { src: address, title: `${title}, to play`, loading: "lazy", className: "board" });
  Object.assign(link, { href: address, textContent: "The board in a page of its own" });
  beside.append(link);
  place.querySelectorAll("img").forEach((picture) => (picture.closest("p, figure") ?? picture).remove());
  place.append(frame, beside);
  place.hidden = false;
}

document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-play]").forEach(putBoard));
