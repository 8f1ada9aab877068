// What anywidget is in Jupyter, over a socket to `pbm serve`.

import board from "./board.js";

const LOST = "The connection is gone, and with it this game. Load the page again to begin anew.";
const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/table`);
const listeners = new Set();
const dispatch = (message) => listeners.forEach((listener) => listener(message));
const opened = new Promise((resolve) => socket.addEventListener("open", resolve));

socket.addEventListener("message", (event) => dispatch(JSON.parse(event.data)));
socket.addEventListener("close", (event) => dispatch({ type: "error", text: event.reason || LOST }));

const model = {
  send: (message) => opened.then(() => socket.send(JSON.stringify(message))),
  on: (_, listener) => listeners.add(listener),
  off: (_, listener) => listeners.delete(listener),
};

board.render({ model, el: document.getElementById("board") });
