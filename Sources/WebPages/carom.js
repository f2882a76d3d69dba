// The engine of a game in a page, and its link to a host. No dependencies.
//
// The engine is a WebAssembly program: the session protocol, the match and its prediction, compiled
// from the same sources as the host. Bytes pass through one buffer in its memory.

/** The path and the subprotocol of the WebSocket on a host's port. */
export const LINK_PATH = "/carom";
export const LINK_PROTOCOL = "carom";

/** The path at which a host says where its data channels are. */
const DATAGRAMS_PATH = "/carom/datagrams";
/** The time within which a data channel has to open, in milliseconds. */
const OPENING_LIMIT = 2000;
/** The number of bytes that may wait on a data channel. Beyond it, datagrams are dropped, as they
 * are by a network that is too slow. */
const WAITING_LIMIT = 65536;

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
 * @property {string} [url] The address of a WebSocket. Only beside a stream that has one, a data
 *   channel to the same host is opened.
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
   * Receives a datagram.
   * @param {Uint8Array} bytes
   */
  receiveDatagram(bytes) {
    // No datagram is longer than the buffer.
    if (bytes.length > this.#exports.bufferLength()) return;
    this.#exports.receiveDatagram(this.write(bytes), this.now);
  }

  /**
   * Returns a copy of the next datagram to send; empty if there is none.
   * @returns {Uint8Array}
   */
  transmitDatagram() { return this.buffer(this.#exports.transmitDatagram(this.now)).slice(); }

  /**
   * The link that carries messages now.
   * @returns {?("websocket"|"webrtc")} Null if no link can.
   */
  get transport() { return [null, "websocket", "webrtc"][this.#exports.messageLink()]; }

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
 * Returns the answer of a host to the offer of a page. The host is ICE-lite (RFC 8445, section 2.5):
 * it has one candidate, and learns the addresses of the page from its checks.
 * @param {{address: string, port: number, ufrag: string, password: string, fingerprint: string}}
 *   host
 * @param {string} offer
 * @returns {string} A session description (RFC 8866).
 */
function answerOf(host, offer) {
  const { address, port, ufrag, password, fingerprint } = host;
  const mid = /^a=mid:(\S+)/m.exec(offer)?.[1] ?? "0";
  const family = address.includes(":") ? "IP6" : "IP4";
  return [
    "v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", `a=group:BUNDLE ${mid}`, "a=ice-lite",
    `m=application ${port} UDP/DTLS/SCTP webrtc-datachannel`, `c=IN ${family} ${address}`,
    `a=mid:${mid}`, `a=ice-ufrag:${ufrag}`, `a=ice-pwd:${password}`,
    `a=fingerprint:sha-256 ${fingerprint}`, "a=setup:passive", "a=sctp-port:5000",
    "a=max-message-size:1200", `a=candidate:1 1 udp 2130706431 ${address} ${port} typ host`,
    "a=end-of-candidates", "",
  ].join("\r\n");
}

/** A WebRTC data channel to a host, each of whose messages is a datagram. */
class DatagramChannel {
  #owner;
  #connection = null;
  #channel = null;
  #limit;
  #hasEnded = false;

  /**
   * Begins to open a channel.
   * @param {string} link The address of the WebSocket to the same host.
   * @param {object} owner Either `opened` and, at the end, `closed` are called, or `failed`.
   * @param {() => void} owner.opened
   * @param {(bytes: Uint8Array) => void} owner.received
   * @param {() => void} owner.closed
   * @param {(isOffered: boolean) => void} owner.failed Whether another attempt may succeed.
   */
  constructor(link, owner) {
    this.#owner = owner;
    this.#limit = setTimeout(() => this.#end(), OPENING_LIMIT);
    this.#open(new URL(DATAGRAMS_PATH, link.replace(/^ws/, "http")));
  }

  /** Whether the channel has opened, and its end has not been noticed yet. */
  get isOpen() { return this.#channel !== null && !this.#hasEnded; }

  /** @param {Uint8Array} bytes A datagram, which is dropped if too many bytes wait. */
  send(bytes) {
    const { readyState, bufferedAmount } = this.#channel;
    if (readyState === "open" && bufferedAmount <= WAITING_LIMIT) this.#channel.send(bytes);
  }

  /** Closes the channel without calling the owner. */
  close() {
    this.#hasEnded = true;
    clearTimeout(this.#limit);
    this.#connection?.close();
  }

  async #open(address) {
    try {
      const response = await fetch(address, { cache: "no-store" });
      if (response.status === 404) return this.#end(false);
      if (!response.ok) return this.#end();
      const host = await response.json();
      if (!this.#hasEnded) await this.#connect(host);
    } catch {
      // What a host or a network does not let through ends the attempt like a timeout.
      this.#end();
    }
  }

  async #connect(host) {
    const connection = this.#connection = new RTCPeerConnection();
    connection.onconnectionstatechange = () => {
      if (["failed", "closed"].includes(connection.connectionState)) this.#end();
    };
    const channel = connection.createDataChannel(
      "carom", { negotiated: true, id: 0, ordered: false, maxRetransmits: 0 });
    channel.binaryType = "arraybuffer";
    channel.onopen = () => this.#opened(channel);
    // A channel that closes waits for the host, which may be gone.
    channel.onclosing = channel.onclose = () => this.#end();
    channel.onmessage = ({ data }) => {
      if (this.isOpen && typeof data !== "string") this.#owner.received(new Uint8Array(data));
    };
    const offer = await connection.createOffer();
    await connection.setLocalDescription(offer);
    await connection.setRemoteDescription({ type: "answer", sdp: answerOf(host, offer.sdp) });
  }

  #opened(channel) {
    if (this.#hasEnded) return;
    clearTimeout(this.#limit);
    this.#channel = channel;
    this.#owner.opened();
  }

  #end(isOffered = true) {
    if (this.#hasEnded) return;
    this.close();
    if (this.#channel) this.#owner.closed(); else this.#owner.failed(isOffered);
  }
}

/**
 * Moves bytes between an engine and a host, over one WebSocket at a time. Opens another one when
 * the engine asks for it: a connection whose link has broken can be resumed for ten seconds.
 *
 * Once the host has granted a seat, and whenever the connection was resumed, it also opens a WebRTC
 * data channel, over which datagrams need not wait for others that were lost. Where there is none,
 * everything goes over the WebSocket.
 */
export class Link {
  #engine;
  #open;
  #stream = null;
  #opening = null;
  /** The data channel that is open or being opened. */
  #datagrams = null;
  #hasDatagrams = typeof RTCPeerConnection !== "undefined";
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
    switch (event.code) {
      case EVENTS.joined:
      case EVENTS.resumed: return this.#openDatagrams();
      case EVENTS.interrupted: return this.#closeDatagrams();
      case EVENTS.reconnect: return this.#connect();
      case EVENTS.left: this.#hasEnded = true;
    }
  }

  /** Sends what the engine has to send. Call this after each call that may change the engine. */
  flush() {
    const program = this.#engine.program;
    while (this.#datagrams?.isOpen) {
      const bytes = this.#engine.transmitDatagram();
      if (bytes.length === 0) break;
      this.#datagrams.send(bytes);
    }
    while (this.#stream) {
      const bytes = this.#engine.transmit(this.#stream.bufferedAmount);
      if (bytes.length === 0) break;
      this.#stream.send(bytes);
    }
    if (program.linkAction() !== 0) this.#drop();
    if (this.#hasEnded) this.#closeDatagrams();
    this.#arm();
  }

  /**
   * Says goodbye to the host, and ends.
   * @param {boolean} [isFinished] Whether the player does not come back. A host may keep the seat
   *   otherwise.
   */
  leave(isFinished = false) {
    // On a stream, the goodbye does not wait for acknowledgements, for which a page has no time.
    if (this.#stream) this.#closeDatagrams();
    this.#engine.program.leave(isFinished ? 1 : 0, this.#engine.now);
    this.flush();
    this.#hasEnded = true;
    this.#closeDatagrams();
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

  /** Opens a data channel, unless there is one or the host has none. */
  #openDatagrams() {
    const address = this.#stream?.url;
    if (!address || !this.#hasDatagrams || this.#datagrams || this.#hasEnded) return;
    const engine = this.#engine;
    this.#datagrams = new DatagramChannel(address, {
      opened: () => {
        if (engine.program.openDatagrams(engine.now) === 0) this.#closeDatagrams();
        this.#update();
      },
      received: (bytes) => {
        engine.receiveDatagram(bytes);
        this.#update();
      },
      closed: () => {
        this.#closeDatagrams();
        this.#update();
      },
      failed: (isOffered) => {
        this.#datagrams = null;
        this.#hasDatagrams = isOffered;
      },
    });
  }

  #closeDatagrams() {
    const channel = this.#datagrams;
    if (!channel) return;
    this.#datagrams = null;
    channel.close();
    this.#engine.program.closeDatagrams(this.#engine.now);
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
