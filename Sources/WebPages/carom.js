// The engine of a game in a page, and its link to a host. No dependencies.
//
// The engine is a WebAssembly program: the session protocol, the match and its prediction, compiled
// from the same sources as the host. Bytes pass through one buffer in its memory.

/** The path and the subprotocol of the WebSocket on a host's port. */
export const LINK_PATH = "/carom";
export const LINK_PROTOCOL = "carom";

/**
 * Opens a WebSocket to a host.
 * @param {string} address Such as "wss://table.example:7777/carom".
 * @param {?string} [code] The join code of the host. It is shown over TLS alone: in plaintext,
 *   everybody on the network could read it.
 * @returns {ByteStream}
 */
export function openLink(address, code = null) {
  const shown = code && address.startsWith("wss:") ? [`${LINK_PROTOCOL}.code.${code}`] : [];
  return new WebSocket(address, [LINK_PROTOCOL, ...shown]);
}

/** The address of the WebSocket of the host that has served this page. */
export function ownHost() {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${LINK_PATH}`;
}

/**
 * The join code in the fragment of this page's address, such as "#code=K7QM-2XRT". No host and no
 * proxy sees a fragment. A code that was found is kept for this tab.
 * @returns {?string} Null if there has been none, or one that cannot be a code.
 */
export function joinCode() {
  const key = "carom.code";
  const found = new URLSearchParams(location.hash.slice(1)).get("code");
  const isCode = (text) => text !== null && /^[0-9A-Za-z-]{1,64}$/.test(text);
  try {
    if (isCode(found)) sessionStorage.setItem(key, found);
    const known = sessionStorage.getItem(key);
    return isCode(known) ? known : null;
  } catch {
    // Without storage, as in some private windows, a reload needs the whole address.
    return isCode(found) ? found : null;
  }
}

/** The codes of the events that concern the connection rather than the game. */
export const EVENTS = Object.freeze({
  joined: 32, interrupted: 33, resumed: 34, reconnect: 35, left: 37,
});

/** How far a match over the network has come. */
export const LINKS = Object.freeze({
  none: 0, connecting: 1, waiting: 2, playing: 3, interrupted: 4, ended: 5,
});

/**
 * An event of the engine: a code and two values from 0 to 255, whose meaning depends on the code.
 * @typedef {{code: number, first: number, second: number}} EngineEvent
 */

/**
 * What the link needs of a stream of bytes. A `WebSocket` is one.
 * @typedef {object} ByteStream
 * @property {number} bufferedAmount The number of bytes that have not been sent yet.
 * @property {(bytes: Uint8Array) => void} send Sends bytes, which it does not keep.
 * @property {() => void} close Closes the stream once everything has been sent.
 * @property {?(() => void)} onopen
 * @property {?((message: {data: ArrayBuffer|string}) => void)} onmessage
 * @property {?((end: {wasClean: boolean}) => void)} onclose
 */

/** A program that was loaded from an engine's file. Each instance plays one match at a time. */
export class Engine {
  #exports;
  #clock;

  /**
   * Use `load` instead.
   * @param {WebAssembly.Exports} exports
   * @param {() => number} clock
   */
  constructor(exports, clock) {
    this.#exports = exports;
    this.#clock = clock;
  }

  /**
   * Loads an engine. It gets nothing from the page but memory and random numbers.
   * @param {BufferSource|Response|Promise<Response>} program The file, or the answer to a request
   *   for it.
   * @param {() => number} [clock] Returns the time in milliseconds, which never goes backwards.
   * @returns {Promise<Engine>} Rejected if the file is missing or not an engine.
   */
  static async load(program, clock = () => performance.now()) {
    let bytes = await program;
    if (typeof Response !== "undefined" && bytes instanceof Response) {
      if (!bytes.ok) throw new Error(`the engine is missing: ${bytes.status} for ${bytes.url}`);
      bytes = await bytes.arrayBuffer();
    }
    let memory;
    const random = (address, count) => {
      // At most 65,536 bytes can be drawn at a time.
      for (let drawn = 0; drawn < count; drawn += 65536) {
        const length = Math.min(65536, count - drawn);
        crypto.getRandomValues(new Uint8Array(memory.buffer, address + drawn, length));
      }
    };
    const { instance } = await WebAssembly.instantiate(bytes, { carom: { random } });
    memory = instance.exports.memory;
    instance.exports.load();
    return new this(instance.exports, clock);
  }

  /** The functions of the program, for the game's own part of the engine. */
  get program() { return this.#exports; }

  /** The time in milliseconds. */
  get now() { return this.#clock(); }

  /**
   * Returns the first bytes of the shared buffer. They are valid until the next call of the engine.
   * @param {number} length
   * @returns {Uint8Array}
   */
  buffer(length) {
    // The first call allocates the buffer, which may move the memory.
    const address = this.#exports.bufferAddress();
    return new Uint8Array(this.#exports.memory.buffer, address, length);
  }

  /**
   * Copies bytes to the shared buffer.
   * @param {Uint8Array} bytes At most as many as the buffer holds.
   * @returns {number} Their number.
   */
  write(bytes) {
    this.buffer(bytes.length).set(bytes);
    return bytes.length;
  }

  /**
   * Handles the timeouts that are due, and plays the ticks that are.
   * @returns {number} The number of ticks.
   */
  step() { return this.#exports.step(this.now); }

  /**
   * Removes and returns the events that have happened.
   * @returns {EngineEvent[]}
   */
  takeEvents() {
    const bytes = this.buffer(this.#exports.events());
    const events = [];
    for (let at = 0; at < bytes.length; at += 4) {
      events.push({ code: bytes[at], first: bytes[at + 1], second: bytes[at + 2] });
    }
    return events;
  }

  /**
   * Receives bytes from the link.
   * @param {Uint8Array} bytes Any number of bytes, cut anywhere.
   */
  receive(bytes) {
    const most = this.#exports.bufferLength();
    for (let at = 0; at < bytes.length; at += most) {
      this.#exports.receive(this.write(bytes.subarray(at, at + most)), this.now);
    }
  }

  /**
   * Returns a copy of the next bytes for the link; empty if there are none.
   * @param {number} queued The number of bytes that the link has not sent yet.
   * @returns {Uint8Array}
   */
  transmit(queued) { return this.buffer(this.#exports.transmit(queued, this.now)).slice(); }

  /**
   * Returns the text that a function of the program has written to the buffer.
   * @param {number} length What the function has returned.
   * @returns {string}
   */
  text(length) { return new TextDecoder().decode(this.buffer(length)); }

  /** The name of the host; empty while it is not known. */
  get hostName() { return this.text(this.#exports.hostName()); }

  /** The host's explanation for the end of the connection; usually empty. */
  get endText() { return this.text(this.#exports.endText()); }

  /** The last tick that is certain, and the hash of the state after it. */
  get confirmed() {
    const { confirmedTick, confirmedHash } = this.#exports;
    return { tick: confirmedTick(), hash: BigInt.asUintN(64, confirmedHash()) };
  }
}

/**
 * Moves bytes between an engine and a host, over one WebSocket at a time. Opens another one when
 * the engine asks for it: a connection whose link has broken can be resumed for ten seconds.
 */
export class Link {
  #engine;
  #open;
  #stream = null;
  #opening = null;
  #hasEnded = false;
  #timer = null;
  #update;

  /**
   * @param {Engine} engine An engine that is prepared to join.
   * @param {string|(() => ByteStream)} host The WebSocket's address, such as
   *   "ws://192.168.1.5:7777/carom", or a function that opens a stream.
   * @param {() => void} update Called when something has arrived or is due. It should call `step`
   *   of the engine, read its events, pass them to `handle`, and call `flush`.
   */
  constructor(engine, host, update) {
    this.#engine = engine;
    this.#open = typeof host === "function" ? host : () => openLink(host);
    this.#update = update;
    this.#connect();
  }

  /** Whether a stream is open. */
  get isOpen() { return this.#stream !== null; }

  /**
   * Does what an event of the engine asks the link to do.
   * @param {EngineEvent} event
   */
  handle(event) {
    if (event.code === EVENTS.reconnect) this.#connect();
    if (event.code === EVENTS.left) this.#hasEnded = true;
  }

  /** Sends what the engine has to send. Call this after each call that may change the engine. */
  flush() {
    const program = this.#engine.program;
    while (this.#stream) {
      const bytes = this.#engine.transmit(this.#stream.bufferedAmount);
      if (bytes.length === 0) break;
      this.#stream.send(bytes);
    }
    if (program.linkAction() !== 0) this.#drop();
    this.#arm();
  }

  /**
   * Says goodbye to the host, and ends.
   * @param {boolean} [isFinished] Whether the player does not come back. A host may keep the seat
   *   otherwise.
   */
  leave(isFinished = false) {
    this.#engine.program.leave(isFinished ? 1 : 0, this.#engine.now);
    this.flush();
    this.#hasEnded = true;
    this.#drop();
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #connect() {
    if (this.#opening || this.#stream || this.#hasEnded) return;
    let stream;
    try {
      stream = this.#open();
    } catch {
      // A page that came over TLS may not open a link without it.
      return queueMicrotask(() => this.#lost(false));
    }
    this.#opening = stream;
    stream.binaryType = "arraybuffer";
    stream.onopen = () => this.#opened(stream);
    stream.onmessage = ({ data }) => this.#received(stream, data);
    stream.onclose = ({ wasClean }) => this.#closed(stream, wasClean);
  }

  #opened(stream) {
    this.#opening = null;
    const engine = this.#engine;
    if (this.#hasEnded || engine.program.openLink(engine.now) === 0) return stream.close();
    this.#stream = stream;
    this.#update();
  }

  #received(stream, data) {
    if (stream !== this.#stream) return;
    // A host sends binary messages only.
    if (typeof data === "string") return stream.close();
    this.#engine.receive(new Uint8Array(data));
    this.#update();
  }

  /** A stream that the engine has given up closes later, and means nothing. */
  #closed(stream, wasClean) {
    if (stream !== this.#stream && stream !== this.#opening) return;
    this.#stream = null;
    this.#opening = null;
    this.#lost(wasClean);
  }

  #lost(wasClean) {
    if (this.#hasEnded) return;
    this.#engine.program.closeLink(wasClean ? 0 : 1, this.#engine.now);
    this.#update();
  }

  #drop() {
    const stream = this.#stream;
    this.#stream = null;
    stream?.close();
  }

  /** Wakes the engine when it is due, even where no frame is drawn, as in a hidden page. */
  #arm() {
    const due = this.#engine.program.nextTimeout();
    if (this.#timer !== null || this.#hasEnded || !Number.isFinite(due)) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#update();
    }, Math.max(0, due - this.#engine.now));
  }
}

/**
 * The id by which a host knows the player of this tab after a reload. Each tab has its own.
 * @returns {Uint8Array} 16 bytes.
 */
export function playerID() {
  const key = "carom.id";
  let known = null;
  try {
    known = sessionStorage.getItem(key)?.match(/^([0-9a-f]{2}){16}$/)?.[0];
  } catch {
    // Without storage, as in some private windows, the player is a new one.
  }
  if (known) return Uint8Array.from(known.match(/../g), (digits) => parseInt(digits, 16));
  const id = crypto.getRandomValues(new Uint8Array(16));
  try {
    const digits = Array.from(id, (byte) => byte.toString(16).padStart(2, "0"));
    sessionStorage.setItem(key, digits.join(""));
  } catch {
    // As above.
  }
  return id;
}
