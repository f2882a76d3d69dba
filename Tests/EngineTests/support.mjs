// What the tests of the engine share: its file, a clock, and streams in place of WebSockets.

import { webcrypto } from "node:crypto";
import { readFile } from "node:fs/promises";
import net from "node:net";

import { AirHockey } from "../../Sources/AirHockeyPage/air-hockey.js";

// Node 18 does not have what every browser has.
globalThis.crypto ??= webcrypto;

/** The engine that is tested. */
export const engineFile = process.env.CAROM_ENGINE ?? ".build/page/air-hockey.wasm";
const program = await readFile(engineFile);

/** Loads an engine. Without a clock, it has the real time. */
export const load = (clock) => AirHockey.load(program, clock);

/** A clock that a test moves, in milliseconds. */
export class TestClock {
  time = 1000;
  get reader() { return () => this.time; }
}

/** A TCP stream with the interface of a WebSocket: the same bytes, in messages cut anywhere. */
export class TCPStream {
  #socket;
  #wasBroken = false;

  constructor(port) {
    this.#socket = net.connect(port, "127.0.0.1");
    this.#socket.setNoDelay(true);
    this.#socket.on("connect", () => this.onopen());
    this.#socket.on("data", (bytes) => this.onmessage({ data: new Uint8Array(bytes).buffer }));
    this.#socket.on("error", () => (this.#wasBroken = true));
    this.#socket.on("close", () => this.onclose({ wasClean: !this.#wasBroken }));
  }

  get bufferedAmount() { return this.#socket.writableLength; }
  send(bytes) { this.#socket.write(bytes); }
  close() { this.#socket.end(); }
  /** Breaks the stream, as a network that is lost does. */
  break() { this.#socket.resetAndDestroy(); }
}

/** Waits until a condition holds. Rejected after a number of seconds. */
export async function until(condition, seconds, what) {
  const end = Date.now() + 1000 * seconds;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise((resume) => setTimeout(resume, 5));
  }
}
