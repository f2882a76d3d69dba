// Fingers, mouse and keys: where the people at the page want their mallets.

import { AWAY, HOME, TABLE } from "./air-hockey.js";

/** How far the mallet is in front of a finger, which would hide it, in meters. */
export const FINGER_OFFSET = 0.06;
/** How fast keys move a mallet, in meters per second. */
const KEY_SPEED = 2.4;

/** The directions of keys on the screen: right and down. */
const ARROWS = Object.freeze({
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
});
const LETTERS = Object.freeze({
  KeyA: [-1, 0], KeyD: [1, 0], KeyW: [0, -1], KeyS: [0, 1],
});

/** Turns pointers and keys into targets of the mallets. */
export class Controls {
  #table;
  #targets = [null, null];
  #fingers = new Map();
  #keys = new Set();
  #lastKeys = null;

  /**
   * The seats of the people at this page: one or both.
   * @type {number[]}
   */
  seats = [HOME];

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./table.js").Table} table
   */
  constructor(canvas, table) {
    this.#table = table;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture?.(event.pointerId);
      this.#point(event, canvas, true);
    });
    canvas.addEventListener("pointermove", (event) => this.#point(event, canvas, false));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, ({ pointerId }) => this.#fingers.delete(pointerId));
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    addEventListener("keydown", (event) => this.#key(event, true));
    addEventListener("keyup", (event) => this.#key(event, false));
    addEventListener("blur", () => this.#keys.clear());
  }

  /** Forgets all targets, because another match begins. */
  reset(seats) {
    this.seats = seats;
    this.#targets = [null, null];
    this.#fingers.clear();
    this.#keys.clear();
  }

  /**
   * Passes the targets to the engine.
   * @param {import("./air-hockey.js").AirHockey} engine
   * @param {import("./air-hockey.js").State} state
   * @param {number} now In milliseconds.
   */
  apply(engine, state, now) {
    this.#moveByKeys(state, now);
    for (const seat of this.seats) {
      const target = this.#targets[seat];
      if (target) engine.setTarget(seat, target[0], target[1]);
    }
  }

  #point(event, canvas, isDown) {
    const isMouse = event.pointerType === "mouse";
    if (!isDown && !isMouse && !this.#fingers.has(event.pointerId)) return;
    const box = canvas.getBoundingClientRect(), { ratio, placement } = this.#table;
    const point = placement.toTable(
      (event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio);
    // A finger keeps the seat in whose half it came down. A mouse moves one mallet.
    if (isDown) this.#fingers.set(event.pointerId, this.#seatAt(point[0]));
    const seat = this.#fingers.get(event.pointerId) ?? this.seats[0];
    const forward = isMouse ? 0 : seat === HOME ? FINGER_OFFSET : -FINGER_OFFSET;
    this.#targets[seat] = [point[0] + forward, point[1]];
    if (isDown) event.preventDefault();
  }

  #seatAt(x) {
    if (this.seats.length === 1) return this.seats[0];
    return x < 0 ? HOME : AWAY;
  }

  #key(event, isDown) {
    const isText = event.target instanceof HTMLInputElement && event.target.type === "text";
    if (isText || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(event.code in ARROWS) && !(event.code in LETTERS)) return;
    if (isDown) this.#keys.add(event.code); else this.#keys.delete(event.code);
    if (document.activeElement === document.body) event.preventDefault();
  }

  /** One person may use the arrows and the letters; two have the letters and the arrows. */
  #moveByKeys(state, now) {
    const seconds = Math.min(0.1, (now - (this.#lastKeys ?? now)) / 1000);
    this.#lastKeys = now;
    const groups = this.seats.length === 1
      ? [[this.seats[0], { ...ARROWS, ...LETTERS }]] : [[HOME, LETTERS], [AWAY, ARROWS]];
    for (const [seat, keys] of groups) {
      let right = 0, down = 0;
      for (const code of this.#keys) {
        right += keys[code]?.[0] ?? 0;
        down += keys[code]?.[1] ?? 0;
      }
      if (right === 0 && down === 0) continue;
      const length = Math.hypot(right, down), { placement } = this.#table;
      const pixels = (KEY_SPEED * seconds * placement.scale) / length;
      const [x, y] = placement.toTableDirection(right * pixels, down * pixels);
      const from = this.#targets[seat] ?? [state.mallets[seat].x, state.mallets[seat].y];
      this.#targets[seat] = this.#bounded(seat, from[0] + x, from[1] + y);
    }
  }

  /** Keeps a target that keys move within the half of its seat. */
  #bounded(seat, x, y) {
    const { halfLength, halfWidth, malletRadius } = TABLE;
    const side = seat === HOME ? -1 : 1;
    const forward = Math.min(Math.max(side * x, malletRadius), halfLength - malletRadius);
    const across = halfWidth - malletRadius;
    return [side * forward, Math.min(Math.max(y, -across), across)];
  }
}
