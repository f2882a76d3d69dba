// What the tests of the engine share: its file, a clock, streams in place of WebSockets, pages, hosts.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { webcrypto } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { AirHockey, AWAY, PHASES } from "../../Sources/WebPages/air-hockey.js";

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

/** A page's player: an engine on the real time, which follows the puck over TCP. */
export class Player {
  events = [];
  streams = [];

  static async join(port, id = 7, name = "Leo ü", place = {}) {
    const player = new Player();
    player.engine = await load();
    const open = () => {
      player.streams.push(new TCPStream(port));
      return player.streams.at(-1);
    };
    const own = new Uint8Array(16).fill(id);
    player.engine.join(open, own, name, () => player.update(), place);
    player.timer = setInterval(() => player.update(), 8);
    return player;
  }

  update() {
    const { state } = this.engine;
    this.engine.setTarget(AWAY, 0.7, state.phase === PHASES.none ? 0 : 0.7 * state.puck.y);
    this.events.push(...this.engine.update());
  }

  has(code) { return this.events.some((event) => event.code === code); }

  end() {
    clearInterval(this.timer);
    this.engine.leave();
  }
}

/** The game's program. */
export const hostProgram = process.env.CAROM_HOST ?? ".build/release/air-hockey";

/** Whether the tests with hosts are skipped, and why. */
export const skipHost = existsSync(hostProgram) ? false : "the host's program is not built";

/** A folder with the page, as `make wasm` builds it. */
export function makePage(context) {
  const folder = mkdtempSync(path.join(tmpdir(), "carom-page-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of readdirSync("Sources/WebPages")) {
    copyFileSync(`Sources/WebPages/${name}`, path.join(folder, name));
  }
  copyFileSync(engineFile, path.join(folder, "air-hockey.wasm"));
  return folder;
}

/** Starts a host that serves the page. */
export function startHost(context, ...options) {
  const host = new Host("--browser", "--page", makePage(context), ...options);
  context.after(() => host.end());
  return host;
}

/** Makes a self-signed certificate. Returns the paths of its file and of its key's. */
export function makeCertificate(context) {
  const folder = mkdtempSync(path.join(tmpdir(), "carom-certificate-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const [certificate, key] = ["cert.pem", "key.pem"].map((name) => path.join(folder, name));
  execFileSync("openssl", [
    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
    "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
  ], { stdio: "ignore" });
  return [certificate, key];
}

/** Starts a host that serves the page over TLS. */
export function startTLSHost(context, ...options) {
  const [certificate, key] = makeCertificate(context);
  const host = new Host(
    "--browser-tls", certificate, key, "--page", makePage(context), ...options);
  context.after(() => host.end());
  return host;
}

/** A player or spectator of a host, in a process without a terminal. */
export class Client {
  output = "";
  errors = "";

  constructor(context, command, address, name, ...options) {
    this.process = spawn(hostProgram, [
      command, address, "--bot", "--headless", "--json", "--name", name, "--security", "none",
      ...options,
    ], { stdio: ["ignore", "pipe", "pipe"] });
    context.after(() => this.process.kill("SIGKILL"));
    this.process.stdout.on("data", (bytes) => (this.output += bytes));
    this.process.stderr.on("data", (bytes) => (this.errors += bytes));
    /** The exit status. */
    this.ended = new Promise((resolve) => this.process.on("close", resolve));
  }

  async summary() {
    await this.ended;
    return JSON.parse(this.output.trim());
  }
}

/** An `air-hockey host` that plays by itself, unless its clients play each other. */
export class Host {
  lines = "";

  constructor(...options) {
    this.process = spawn(hostProgram, [
      "host", "--interface", "lo", "--unlisted", "--json", "--name", "Maya",
      ...(options.includes("--browser-tls") ? [] : ["--security", "none"]),
      ...(options.includes("--players") || options.includes("--tables") ? [] : ["--bot"]),
      ...options,
    ]);
    this.output = "";
    this.process.stdout.on("data", (text) => (this.output += text));
    this.process.stderr.on("data", (text) => (this.lines += text));
    this.ended = new Promise((resolve) => this.process.on("close", resolve));
  }

  async port() {
    await until(() => / port \d+/.test(this.lines), 20, "a port in " + this.lines);
    return Number(/ port (\d+)/.exec(this.lines)[1]);
  }

  async summary() {
    await this.ended;
    return JSON.parse(this.output.trim().split("\n").at(-1));
  }

  /** The address of the page that the host serves. */
  async page() {
    const address = /https?:\/\/127\.0\.0\.1:\d+\/\S*/;
    await until(() => address.test(this.lines), 20, "an address in " + this.lines);
    return address.exec(this.lines)[0];
  }

  /** How often a line of the host has contained a text. */
  count(text) { return this.lines.split(text).length - 1; }

  end() { this.process.kill("SIGKILL"); }
}

/** Keeps the hash of each certain tick that a page sees. */
export const recordHashes = `(() => {
  globalThis.hashes = {};
  const record = () => {
    const { tick, hash } = airHockey.confirmed;
    hashes[tick] = hash.toString(16);
    requestAnimationFrame(record);
  };
  record();
})()`;

/** The hashes of each tick of a recording. */
export function readHashes(file) {
  const lines = execFileSync(hostProgram, ["replay", file, "--hashes"], { encoding: "utf8" });
  return new Map(lines.trim().split("\n").map((line) => line.split(" ")));
}

/** Checks that what pages have seen is what the host has played, at more than a number of ticks. */
export function compare(seen, played, least) {
  const ticks = Object.keys(seen).filter((tick) => played.has(tick));
  assert.ok(ticks.length > least, `${ticks.length} ticks of ${Object.keys(seen).length}`);
  for (const tick of ticks) assert.equal(seen[tick], played.get(tick), `tick ${tick}`);
}
