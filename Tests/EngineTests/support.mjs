// What the tests of the engine share: its file, a clock, streams in place of WebSockets, pages, hosts.

import { execFileSync, spawn } from "node:child_process";
import { webcrypto } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { AirHockey } from "../../Sources/WebPages/air-hockey.js";

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

/** An `air-hockey host` that plays by itself, unless its clients play each other. */
export class Host {
  lines = "";

  constructor(...options) {
    this.process = spawn(hostProgram, [
      "host", "--interface", "lo", "--unlisted", "--json", "--name", "Maya",
      ...(options.includes("--browser-tls") ? [] : ["--security", "none"]),
      ...(options.includes("--players") ? [] : ["--bot"]), ...options,
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
