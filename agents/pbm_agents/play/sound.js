// A quiet tone for each move, for who asks for it. The browser makes it, so there is no file to load.

import { remember, remembered } from "./dom.js";

const NAME = "pbm-sound"; // in the browser's storage
const VOLUME = 0.05;
const LENGTH = 0.09; // seconds
const MOVE = [330]; // Hertz
const END = [330, 262];

export function sound() {
  let on = remembered("localStorage", NAME) === "on";
  let context = null; // browsers let it be heard after a first click or key

  function tone(pitch, start) {
    const oscillator = new OscillatorNode(context, { type: "triangle", frequency: pitch });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(0, start);
    volume.gain.linearRampToValueAtTime(VOLUME, start + 0.005);
    volume.gain.exponentialRampToValueAtTime(VOLUME / 100, start + LENGTH);
    oscillator.connect(volume).connect(context.destination);
    oscillator.start(start);
    oscillator.stop(start + LENGTH);
  }

  function play(pitches) {
    if (!on || !window.AudioContext) return;
    context ??= new AudioContext();
    context.resume();
    pitches.forEach((pitch, number) => tone(pitch, context.currentTime + number * LENGTH));
  }

  // A move that was made, not one that is looked at.
  function hear(before, message) {
    const made = before && before.game === message.game && message.ply === message.plies && before.plies < message.plies
      && !before.curtain && Boolean(before.exercise) === Boolean(message.exercise);
    if (made) play(message.done ? END : MOVE);
  }

  return {
    hear,
    isOn: () => on,
    turn(now) {
      on = now;
      remember("localStorage", NAME, on ? "on" : null);
      play(MOVE);
    },
  };
}
