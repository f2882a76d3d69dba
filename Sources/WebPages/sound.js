// Sounds, which the page makes itself.

import { GAME_EVENTS, TOUCHES } from "./air-hockey.js";

/** Plays the sounds of a match. Silent until a person has touched the page, as browsers want it. */
export class Sound {
  #context = null;
  #noise = null;
  isMuted = false;

  constructor() {
    for (const gesture of ["pointerdown", "keydown"]) {
      addEventListener(gesture, () => this.#wake(), { passive: true });
    }
  }

  #wake() {
    if (typeof AudioContext === "undefined") return;
    this.#context ??= new AudioContext();
    if (this.#context.state === "suspended") this.#context.resume().catch(() => {});
  }

  /**
   * Plays the sound of an event of the game.
   * @param {import("./carom.js").EngineEvent} event
   */
  play(event) {
    if (this.isMuted || this.#context?.state !== "running") return;
    switch (event.code) {
      case GAME_EVENTS.touch: return this.#touch(event.first, event.second);
      case GAME_EVENTS.goal: return this.#tones([523, 659, 784], 0.12, 0.2);
      case GAME_EVENTS.won: return this.#tones([523, 659, 784, 1047], 0.16, 0.25);
      case GAME_EVENTS.foul: return this.#tones([220, 165], 0.15, 0.2);
      case GAME_EVENTS.faceOff: return this.#tones([880], 0.15, 0.15);
      case GAME_EVENTS.serve: return this.#tones([660], 0.08, 0.1);
    }
  }

  /** A knock, louder for a faster puck, and brighter from a mallet than from a rail. */
  #touch(touches, speed) {
    const volume = Math.min(0.5, 0.08 + 0.05 * speed);
    if (touches & (TOUCHES.homeMallet | TOUCHES.awayMallet)) this.#knock(1500, volume);
    else if (touches & TOUCHES.post) this.#knock(2400, volume);
    else this.#knock(700, 0.8 * volume);
  }

  #knock(frequency, volume) {
    const context = this.#context, now = context.currentTime;
    if (!this.#noise) {
      this.#noise = context.createBuffer(1, context.sampleRate / 10, context.sampleRate);
      const samples = this.#noise.getChannelData(0);
      for (let index = 0; index < samples.length; index++) samples[index] = 2 * Math.random() - 1;
    }
    const source = context.createBufferSource(), filter = context.createBiquadFilter();
    source.buffer = this.#noise;
    filter.type = "bandpass";
    filter.frequency.value = frequency;
    filter.Q.value = 6;
    source.connect(filter).connect(this.#fading(4 * volume, now, 0.07));
    source.start(now);
    source.stop(now + 0.1);
  }

  #tones(frequencies, spacing, volume) {
    const context = this.#context;
    frequencies.forEach((frequency, index) => {
      const start = context.currentTime + index * spacing, tone = context.createOscillator();
      tone.type = "triangle";
      tone.frequency.value = frequency;
      tone.connect(this.#fading(volume, start, spacing + 0.15));
      tone.start(start);
      tone.stop(start + spacing + 0.2);
    });
  }

  /** A gain that begins with `volume` and fades within some seconds. */
  #fading(volume, start, seconds) {
    const gain = this.#context.createGain();
    gain.gain.setValueAtTime(volume, start);
    gain.gain.exponentialRampToValueAtTime(0.001, start + seconds);
    gain.connect(this.#context.destination);
    return gain;
  }
}
