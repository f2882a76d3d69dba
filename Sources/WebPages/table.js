// The table on a canvas: where it lies on the screen, and how it is painted.

import { AWAY, HOME, PHASES, TABLE } from "./air-hockey.js";

/** The width of the rail around the table, in meters. */
const RAIL = 0.045;

/** For how many ticks a place of the puck is seen in its trail. */
const TRAIL = 10;

const COLORS = Object.freeze({
  rail: "#424e78", railLight: "#8593c4", fieldMiddle: "#16244a", fieldEdge: "#0c1530",
  line: "#5e86d6", puck: "#fff3d0", trail: "255, 200, 97", players: ["#37c8ff", "#ff6b57"],
  glow: ["55, 200, 255", "255, 107, 87"], dark: "#080a12",
});

/** Where the table lies on the screen. The seat at the bottom or on the left is `near`. */
export class Placement {
  /**
   * @param {number} width Of the canvas, in pixels.
   * @param {number} height
   * @param {number} near The seat at the bottom in portrait, on the left in landscape.
   */
  constructor(width, height, near) {
    this.isPortrait = height > width;
    const long = 2 * (TABLE.halfLength + RAIL), short = 2 * (TABLE.halfWidth + RAIL);
    this.scale = this.isPortrait
      ? Math.min(height / long, width / short) : Math.min(width / long, height / short);
    this.centerX = width / 2;
    this.centerY = height / 2;
    this.near = near;
  }

  /**
   * Converts a point of the table in meters to pixels.
   * @returns {[number, number]}
   */
  toScreen(x, y) {
    if (this.near === AWAY) [x, y] = [-x, -y];
    const [right, up] = this.isPortrait ? [-y, x] : [x, y];
    return [this.centerX + right * this.scale, this.centerY - up * this.scale];
  }

  /**
   * Converts a direction or a distance on the screen, in pixels, to meters on the table.
   * @returns {[number, number]}
   */
  toTableDirection(right, down) {
    const [x, y] = this.isPortrait ? [-down, -right] : [right, -down];
    const sign = this.near === AWAY ? -1 : 1;
    return [(sign * x) / this.scale, (sign * y) / this.scale];
  }

  /**
   * Converts a point on the canvas, in pixels, to meters on the table.
   * @returns {[number, number]}
   */
  toTable(screenX, screenY) {
    return this.toTableDirection(screenX - this.centerX, screenY - this.centerY);
  }
}

/** Paints the match. */
export class Table {
  #canvas;
  #context;
  #trail = [];
  #flash = null;
  #isCalm;

  /** @param {HTMLCanvasElement} canvas Its size on the page determines the size of the table. */
  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false });
    this.#isCalm = matchMedia("(prefers-reduced-motion: reduce)");
    this.near = HOME;
    this.fit();
  }

  /** Adapts to the size of the canvas on the page, or to another seat at the bottom. */
  fit() {
    const { width, height } = this.#canvas.getBoundingClientRect();
    const ratio = Math.min(devicePixelRatio || 1, 3);
    this.#canvas.width = Math.max(1, Math.round(width * ratio));
    this.#canvas.height = Math.max(1, Math.round(height * ratio));
    this.ratio = ratio;
    this.placement = new Placement(this.#canvas.width, this.#canvas.height, this.near);
    this.#trail = [];
  }

  /** Puts a seat at the bottom or on the left. */
  setNear(seat) {
    this.near = seat;
    this.fit();
  }

  /**
   * Lights up the side of a seat for half a second.
   * @param {number} seat
   * @param {number} now In milliseconds.
   */
  flash(seat, now) { this.#flash = { seat, until: now + 500 }; }

  /**
   * Paints a frame.
   * @param {import("./air-hockey.js").State} state
   * @param {number} now In milliseconds.
   */
  paint(state, now) {
    const context = this.#context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = COLORS.dark;
    context.fillRect(0, 0, this.#canvas.width, this.#canvas.height);
    this.#paintField();
    this.#paintFlash(now);
    this.#paintTrail(state);
    for (const seat of [HOME, AWAY]) this.#paintMallet(state.mallets[seat], seat);
    if (state.phase !== PHASES.matchEnd && state.phase !== PHASES.goalPause) {
      this.#paintPuck(state.puck);
    }
  }

  #rectangle(halfLength, halfWidth, radius) {
    const { placement } = this;
    const [x1, y1] = placement.toScreen(-halfLength, -halfWidth);
    const [x2, y2] = placement.toScreen(halfLength, halfWidth);
    const context = this.#context;
    context.beginPath();
    context.roundRect(
      Math.min(x1, x2), Math.min(y1, y2), Math.abs(x2 - x1), Math.abs(y2 - y1),
      radius * placement.scale);
  }

  #circle(point, radius) {
    const [x, y] = this.placement.toScreen(point.x, point.y);
    this.#context.beginPath();
    this.#context.arc(x, y, radius * this.placement.scale, 0, 2 * Math.PI);
    return [x, y];
  }

  #line(x1, y1, x2, y2) {
    const context = this.#context;
    context.beginPath();
    context.moveTo(...this.placement.toScreen(x1, y1));
    context.lineTo(...this.placement.toScreen(x2, y2));
    context.stroke();
  }

  #paintField() {
    const context = this.#context, { scale } = this.placement;
    const { halfLength, halfWidth, goalHalfWidth } = TABLE;
    this.#rectangle(halfLength + RAIL, halfWidth + RAIL, 0.07);
    context.fillStyle = COLORS.rail;
    context.fill();
    this.#rectangle(halfLength, halfWidth, 0.02);
    const [x, y] = this.placement.toScreen(0, 0);
    const gradient = context.createRadialGradient(x, y, 0, x, y, halfLength * scale);
    gradient.addColorStop(0, COLORS.fieldMiddle);
    gradient.addColorStop(1, COLORS.fieldEdge);
    context.fillStyle = gradient;
    context.fill();
    context.strokeStyle = COLORS.line;
    context.globalAlpha = 0.55;
    context.lineWidth = Math.max(1, 0.006 * scale);
    this.#line(0, -halfWidth, 0, halfWidth);
    this.#circle({ x: 0, y: 0 }, 0.15);
    context.stroke();
    for (const side of [-1, 1]) {
      context.save();
      this.#rectangle(halfLength, halfWidth, 0.02);
      context.clip();
      this.#circle({ x: side * halfLength, y: 0 }, 0.25);
      context.stroke();
      context.restore();
    }
    context.globalAlpha = 1;
    for (const seat of [HOME, AWAY]) {
      const goal = (seat === HOME ? -1 : 1) * (halfLength + RAIL / 2);
      context.strokeStyle = COLORS.dark;
      context.lineWidth = RAIL * scale;
      this.#line(goal, -goalHalfWidth, goal, goalHalfWidth);
      context.strokeStyle = COLORS.players[seat];
      context.lineWidth = Math.max(2, 0.014 * scale);
      this.#line(goal, -goalHalfWidth, goal, goalHalfWidth);
    }
  }

  #paintFlash(now) {
    if (!this.#flash || now >= this.#flash.until) return;
    const strength = this.#isCalm.matches ? 0.15 : (0.4 * (this.#flash.until - now)) / 500;
    const context = this.#context;
    this.#rectangle(TABLE.halfLength, TABLE.halfWidth, 0.02);
    context.fillStyle = `rgba(${COLORS.glow[this.#flash.seat]}, ${strength})`;
    context.fill();
  }

  #paintTrail(state) {
    const isShown = state.phase === PHASES.playing && state.pauses === 0 && !this.#isCalm.matches;
    if (!isShown) return void (this.#trail = []);
    this.#trail.push({ point: state.puck, tick: state.tick });
    this.#trail = this.#trail.filter(({ tick }) => state.tick - tick < TRAIL && tick <= state.tick);
    for (const { point, tick } of this.#trail) {
      const strength = 1 - (state.tick - tick) / TRAIL;
      this.#circle(point, TABLE.puckRadius * strength * 0.9);
      this.#context.fillStyle = `rgba(${COLORS.trail}, ${0.25 * strength})`;
      this.#context.fill();
    }
  }

  #paintMallet(point, seat) {
    const context = this.#context, { scale } = this.placement;
    const [x, y] = this.#circle(point, TABLE.malletRadius);
    context.fillStyle = COLORS.players[seat];
    context.fill();
    context.strokeStyle = "rgba(255, 255, 255, 0.7)";
    context.lineWidth = Math.max(1.5, 0.006 * scale);
    context.stroke();
    context.beginPath();
    context.arc(x, y, 0.45 * TABLE.malletRadius * scale, 0, 2 * Math.PI);
    context.fillStyle = "rgba(8, 10, 18, 0.55)";
    context.fill();
    // A shape tells the seats apart where colors do not.
    if (seat === AWAY) {
      context.beginPath();
      context.arc(x, y, 0.18 * TABLE.malletRadius * scale, 0, 2 * Math.PI);
      context.fillStyle = "#ffffff";
      context.fill();
    }
  }

  #paintPuck(point) {
    const context = this.#context;
    this.#circle(point, TABLE.puckRadius);
    context.fillStyle = COLORS.puck;
    context.fill();
    this.#circle(point, 0.6 * TABLE.puckRadius);
    context.strokeStyle = "rgba(8, 10, 18, 0.45)";
    context.lineWidth = Math.max(1, 0.005 * this.placement.scale);
    context.stroke();
  }
}
