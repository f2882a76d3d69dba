// Air hockey's part of the engine: matches, mallets, and the state that is drawn.

import { Engine, EVENTS as LINK_EVENTS, Link, LINKS } from "./carom.js";

/** The table in meters, as the game's rules have it. The origin is its center. */
export const TABLE = Object.freeze({
  halfLength: 0.974, halfWidth: 0.519, goalHalfWidth: 0.125, puckRadius: 0.03165,
  malletRadius: 0.04815,
});

/** The seats: home defends the goal at -x, away the one at +x. */
export const HOME = 0;
export const AWAY = 1;

/** Who plays a seat of a match without a network. */
export const PLAYERS = Object.freeze({ person: 0, easy: 1, medium: 2, hard: 3 });

/** What a player may request. */
export const REQUESTS = Object.freeze({ pause: 1, resume: 2, startMatch: 3 });

/** The codes of the events of the game. The first value is a seat unless the comment says more. */
export const GAME_EVENTS = Object.freeze({
  touch: 1, // what the puck touched, as bits of TOUCHES, and the speed in m/s
  goal: 2, foul: 3, serve: 4, faceOff: 5, won: 6, paused: 7, resumed: 8, matchStarted: 9,
});
export const TOUCHES = Object.freeze({ rail: 1, post: 2, homeMallet: 4, awayMallet: 8 });

/** The phases of a match. */
export const PHASES = Object.freeze({
  faceOff: 0, serve: 1, playing: 2, goalPause: 3, foulPause: 4, matchEnd: 5, none: 255,
});

/** The codes of the events that concern the connection and the session. */
export const EVENTS = Object.freeze({ ...LINK_EVENTS, finalScore: 36, playersChanged: 38 });

/**
 * What is drawn in a frame. Positions are in meters from the center of the table.
 * @typedef {object} State
 * @property {{x: number, y: number}} puck
 * @property {{x: number, y: number}[]} mallets Home's and away's.
 * @property {number} tick The number of ticks, 60 a second.
 * @property {?number} roundTrip In milliseconds; null if it is unknown.
 * @property {number} phase One of `PHASES`.
 * @property {?number} phaseSeat The seat that serves, scored, fouled or won, or has the puck.
 * @property {number} remaining The ticks until the phase ends.
 * @property {number[]} score Home's and away's goals.
 * @property {number} pauses The seats that have paused the match: bit 0 home, bit 1 away.
 * @property {?number} seat The seat of the player at this page, once a host has given it.
 * @property {number} match The number of the match in its session.
 * @property {number} link One of `LINKS`.
 * @property {?string} transport See `Engine.transport`.
 * @property {number} predictedTicks
 * @property {number} inputDelay In ticks.
 * @property {number} desyncs How often the match differed from the host's.
 */

/** The engine of air hockey. */
export class AirHockey extends Engine {
  #link = null;

  /**
   * Begins a match without a network.
   * @param {number} home One of `PLAYERS`.
   * @param {number} away One of `PLAYERS`.
   * @param {bigint} [seed] Determines how computer players play.
   */
  start(home, away, seed = crypto.getRandomValues(new BigUint64Array(1))[0]) {
    this.leave(true);
    this.program.start(home, away, seed, this.now);
  }

  /**
   * Joins the match of a host.
   * @param {string|(() => import("./carom.js").ByteStream)} host See `Link`.
   * @param {Uint8Array} id The player's 16 bytes, by which a host knows a player that returns.
   * @param {string} name At most 63 bytes of UTF-8 are used.
   * @param {() => void} update Called when something has arrived; it should call `update`.
   * @param {{table: number, watches: boolean}} [place] The table, of a host with several: 0 for any
   *   with a free seat. A player who watches gets no seat.
   */
  join(host, id, name, update, { table = 0, watches = false } = {}) {
    this.leave(true);
    const text = new TextEncoder().encode(name.toWellFormed?.() ?? name).subarray(0, 1024);
    const bytes = new Uint8Array(16 + text.length);
    bytes.set(id.subarray(0, 16));
    bytes.set(text, 16);
    this.write(bytes);
    const isName = this.program.join(text.length, table, watches ? 1 : 0, this.now) !== 0;
    if (!isName) throw new Error("not a name: " + name);
    this.#link = new Link(this, host, update);
  }

  /**
   * Leaves the match of a host, with a goodbye. Does nothing in another match.
   * @param {boolean} [isFinished] Whether the player does not come back. A host with several tables
   *   keeps the seat for a while otherwise.
   */
  leave(isFinished = false) {
    this.#link?.leave(isFinished);
    this.#link = null;
  }

  /**
   * Plays what is due. Call this in each frame, and when the link says so.
   * @returns {import("./carom.js").EngineEvent[]} The events since the last call.
   */
  update() {
    this.step();
    const events = this.takeEvents();
    for (const event of events) this.#link?.handle(event);
    this.#link?.flush();
    return events;
  }

  /**
   * Sets where a person wants a mallet. The mallet follows as fast as the rules allow.
   * @param {number} seat
   * @param {number} x In meters.
   * @param {number} y In meters.
   */
  setTarget(seat, x, y) { this.program.setTarget(seat, x, y); }

  /**
   * Makes a request on behalf of a seat.
   * @param {number} seat
   * @param {number} request One of `REQUESTS`.
   */
  request(seat, request) { this.program.request(seat, request); }

  /** The names of home and away over the network; empty while unknown, or without a player. */
  get playerNames() {
    return [HOME, AWAY].map((seat) => this.text(this.program.playerName(seat)));
  }

  /**
   * Returns what to draw now.
   * @returns {State}
   */
  get state() {
    const { transport } = this, bytes = this.buffer(this.program.state(this.now));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const number = (index) => view.getFloat64(8 * index, true);
    const seat = (at) => (bytes[at] === 255 ? null : bytes[at]);
    return {
      puck: { x: number(0), y: number(1) },
      mallets: [{ x: number(2), y: number(3) }, { x: number(4), y: number(5) }],
      tick: number(6),
      roundTrip: number(7) < 0 ? null : number(7),
      phase: bytes[64],
      phaseSeat: seat(65),
      remaining: view.getUint16(66, true),
      score: [bytes[68], bytes[69]],
      pauses: bytes[70],
      seat: seat(71),
      match: view.getUint16(72, true),
      link: bytes[74],
      transport,
      predictedTicks: bytes[75],
      inputDelay: view.getUint16(76, true),
      desyncs: view.getUint16(78, true),
    };
  }
}

/** The codes of some reasons for which a connection ends. */
export const END_CODES = Object.freeze({
  closed: 0, replaced: 3, full: 4, declined: 6, timedOut: 10, notAllowed: 13,
});

/** A sentence for each reason for which a connection ends, by the code in its event. */
export const END_REASONS = Object.freeze([
  "You left the match.",
  "Your opponent left.",
  "The host ended the session.",
  "You joined from another page, which has your seat now.",
  "The table is full. Try again when a player has left.",
  "The host is busy. Try again in a moment.",
  "The host did not let you in.",
  "The host runs another version of the game. Reload this page from the host.",
  "The host plays another game.",
  "The connection ended because one side sent something the other could not read.",
  "The connection was lost.",
  "The host cannot be reached.",
  "The connection was too slow.",
  "The host admits only players whose connection is encrypted.",
  "Too many wrong codes were tried at this host. Try again in a few minutes.",
]);

export { LINKS };
