// Any game's part of the engine: a simulation that `make wasm GAME=…` has compiled for a page.

import { Engine, EVENTS, joinCode, Link, LINKS, openLink, ownHost, playerID } from "./carom.js";

/** How certain an event of the game is, by the code in the buffer. */
const CERTAINTIES = ["", "predicted", "confirmed", "retracted"];
/** The names of the events of the connection, by their code. */
const NAMES = Object.fromEntries(Object.entries(EVENTS).map(([name, code]) => [code, name]));

/** A sentence for each reason for which a connection ends, by the code in its event. */
export const END_REASONS = Object.freeze([
  "You left the match.",
  "The host left.",
  "The host ended the session.",
  "You joined from another page, which has your seat now.",
  "All seats are taken. Try again when a player has left.",
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

/**
 * Something that has happened. In the game: `type` is "predicted", "confirmed" or "retracted" (as a
 * `RollbackEvent`), `tick` is when it happened, and `data` is the encoded event, which is empty
 * unless the game's events are `PacketCodable`. Of the connection: `type` is "joined",
 * "interrupted", "resumed", or "left", which comes with a `reason` in words.
 * @typedef {{type: string, tick?: number, data?: DataView, reason?: string}} GameEvent
 */

/**
 * How the game stands, without its state.
 * @typedef {object} Status
 * @property {number} tick The number of ticks that have been played, predicted ones included.
 * @property {number} fraction The position of the present between the last tick and the next, from
 *   0 to 1.
 * @property {?number} roundTrip To the host, in milliseconds; null if it is unknown.
 * @property {number} link One of `LINKS`.
 * @property {?string} transport See `Engine.transport`.
 * @property {?number} player The player at this page, once a host has given it one.
 * @property {number} predictedTicks
 * @property {number} inputDelay In ticks.
 * @property {number} desyncs How often the game differed from the host's.
 * @property {number} rate The number of ticks per second; 0 without a game.
 */

/** The engine of a game. */
export class Game extends Engine {
  #link = null;

  /**
   * Begins a game without a network. The page sets the inputs of all players.
   * @param {Uint8Array} state The encoded state to begin with.
   * @param {number} players
   * @param {number} [rate] Ticks per second.
   */
  start(state, players, rate = 60) {
    this.leave();
    const isValid = state.length <= this.program.bufferLength()
      && this.program.start(this.write(state), players, rate, this.now) !== 0;
    if (!isValid) throw new Error("the game has no such state, number of players or rate");
  }

  /**
   * Joins the match of a host.
   * @param {object} player
   * @param {string} player.application The host's application.
   * @param {number} [player.version] The version of the application: 1 unless the host has another.
   * @param {string} [player.name] At most 63 bytes of UTF-8 are used.
   * @param {Uint8Array} [player.id] 16 bytes, by which a host knows a player that returns. By
   *   default, each tab of the browser has its own, which a reload keeps.
   * @param {{inputs: number, control: number}} [player.channels] Those of the host's
   *   `RollbackChannels`.
   * @param {() => void} update Called when something has arrived; it should call `update`.
   * @param {string|(() => import("./carom.js").ByteStream)} [host] See `Link`; by default, the host
   *   that has served this page, with the join code in the page's address, if there is one.
   */
  join(player, update, host = () => openLink(ownHost(), joinCode())) {
    this.leave();
    const { application, version = 1, name = "", id = playerID() } = player;
    const { inputs, control } = player.channels ?? { inputs: 54, control: 55 };
    const encode = (text) => new TextEncoder().encode(text.toWellFormed?.() ?? text);
    const [game, own] = [encode(application), encode(name).subarray(0, 1024)];
    const head = [version & 255, version >> 8, inputs, control, Math.min(game.length, 255)];
    const bytes = new Uint8Array([...id.subarray(0, 16), ...head, ...game.subarray(0, 255), ...own]);
    if (this.program.join(this.write(bytes), this.now) === 0) {
      throw new Error(`not a player or an application: ${name}, ${application}`);
    }
    this.#link = new Link(this, host, update);
  }

  /** Leaves the match of a host, with a goodbye. Does nothing in another match. */
  leave() {
    this.#link?.leave();
    this.#link = null;
  }

  /**
   * Sets the input of a player from the next tick on, until another one is set. One-time actions
   * are carried out once.
   * @param {number[]} fields The integers of the game's input, in their order.
   * @param {number} [player] Over the network, always this page's.
   */
  setInput(fields, player = 0) {
    const view = new DataView(new ArrayBuffer(4 * fields.length));
    fields.forEach((field, index) => view.setInt32(4 * index, field, true));
    const bytes = new Uint8Array(view.buffer);
    const isValid = bytes.length <= 64 && this.program.setInput(
      this.write(bytes) / 4, player) !== 0;
    if (!isValid) throw new Error(`not an input of player ${player}: ${fields}`);
  }

  /**
   * Plays what is due. Call this in each frame, and when the link says so.
   * @returns {GameEvent[]} The events since the last call.
   */
  update() {
    this.step();
    const linkEvents = this.takeEvents(), events = this.#takeGameEvents();
    for (const event of linkEvents) {
      this.#link?.handle(event);
      const type = NAMES[event.code];
      if (type === "left") {
        events.push({ type, reason: this.endText || END_REASONS[event.first] });
      } else if (type !== "reconnect") {
        events.push({ type });
      }
    }
    this.#link?.flush();
    return events;
  }

  #takeGameEvents() {
    const events = [];
    for (let length; (length = this.program.gameEvent()) > 0;) {
      const bytes = this.buffer(length).slice(), view = new DataView(bytes.buffer);
      events.push({
        type: CERTAINTIES[bytes[0]], tick: view.getFloat64(4, true),
        data: new DataView(bytes.buffer, 12),
      });
    }
    return events;
  }

  /** The encoded state after the last tick; null before the first state. */
  get state() { return this.#state(0); }

  /** The encoded state before the last tick, for motion between the two; see `Status.fraction`. */
  get previousState() { return this.#state(1); }

  /** The encoded state after the last tick that is certain. */
  get confirmedState() { return this.#state(2); }

  /** @returns {?DataView} */
  #state(kind) {
    const length = this.program.state(kind);
    if (length === -2) throw new Error("the encoded state is longer than 65,536 bytes");
    return length < 0 ? null : new DataView(this.buffer(length).slice().buffer);
  }

  /**
   * How the game stands now.
   * @returns {Status}
   */
  get status() {
    const { transport } = this, bytes = this.buffer(this.program.status(this.now));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const roundTrip = view.getFloat64(16, true);
    return {
      tick: view.getFloat64(0, true),
      fraction: view.getFloat64(8, true),
      roundTrip: roundTrip < 0 ? null : roundTrip,
      link: bytes[24],
      transport,
      player: bytes[25] === 255 ? null : bytes[25],
      predictedTicks: bytes[26],
      inputDelay: view.getUint16(28, true),
      desyncs: view.getUint16(30, true),
      rate: view.getUint16(32, true),
    };
  }
}

export { LINKS };
