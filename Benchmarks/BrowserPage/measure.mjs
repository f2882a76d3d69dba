// measure.mjs ENGINE HOST: the times of air hockey's engine in Node, as lines "figure NAME VALUE", in
// milliseconds: ticks of two computer players, and frames of a match against the program HOST at a
// distance of 300 ms, if there is this program.

import { spawn } from "node:child_process";
import { webcrypto } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import net from "node:net";

import { AirHockey, AWAY, LINKS, PLAYERS } from "../../Sources/WebPages/air-hockey.js";

// Node 18 does not have what every browser has.
globalThis.crypto ??= webcrypto;

const [engineFile, hostProgram] = process.argv.slice(2);
const program = await readFile(engineFile);
const print = (name, value) => console.log(`figure ${name} ${value}`);

/** The value below which a part of the numbers lies. */
function quantile(numbers, part) {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

async function measureTicks() {
  let now = 1000;
  const engine = await AirHockey.load(program, () => now);
  engine.start(PLAYERS.hard, PLAYERS.medium, 3n);
  now += 500 / 60;
  const times = [];
  for (let tick = 0; tick < 7200; tick++) {
    now += 1000 / 60;
    const begin = performance.now();
    engine.update();
    if (tick >= 1200) times.push(performance.now() - begin);
  }
  print("tick50", quantile(times, 0.5));
  print("tick95", quantile(times, 0.95));
}

/** A TCP stream with the interface of a WebSocket, which delivers bytes after 150 ms. */
class DistantStream {
  #socket;
  bufferedAmount = 0;

  constructor(port) {
    this.#socket = net.connect(port, "127.0.0.1");
    this.#socket.setNoDelay(true);
    const later = (action) => setTimeout(action, 150);
    this.#socket.on("connect", () => this.onopen());
    this.#socket.on("data", (bytes) =>
      later(() => this.onmessage({ data: new Uint8Array(bytes).buffer })));
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => this.onclose({ wasClean: true }));
  }

  send(bytes) { setTimeout(() => this.#socket.write(bytes), 150); }
  close() { this.#socket.end(); }
}

/** Starts the host, and returns its port. */
async function startHost() {
  const host = spawn(hostProgram, [
    "host", "--interface", "lo", "--unlisted", "--json", "--bot", "--security", "none",
  ], { stdio: ["ignore", "ignore", "pipe"] });
  let lines = "";
  const port = await new Promise((resolve, reject) => {
    host.stderr.on("data", (text) => {
      const found = / port (\d+)/.exec(lines += text);
      if (found) resolve(Number(found[1]));
    });
    host.on("close", () => reject(new Error(lines)));
  });
  return { host, port };
}

async function measureFrames() {
  const { host, port } = await startHost();
  const engine = await AirHockey.load(program);
  const times = [], predicted = [];
  const end = Date.now() + 20000;
  try {
    engine.join(() => new DistantStream(port), new Uint8Array(16).fill(7), "Leo", () => {});
    while (Date.now() < end && times.length < 600) {
      await new Promise((resume) => setTimeout(resume, 1000 / 60));
      const { state } = engine;
      engine.setTarget(AWAY, 0.7, 0.7 * state.puck.y);
      const begin = performance.now();
      engine.update();
      const time = performance.now() - begin;
      // The first two seconds compile the engine and find the distance.
      if (state.link !== LINKS.playing || state.tick < 120) continue;
      times.push(time);
      predicted.push(state.predictedTicks);
    }
  } finally {
    engine.leave();
    host.kill("SIGKILL");
  }
  print("frame50", quantile(times, 0.5));
  print("frame95", quantile(times, 0.95));
  print("predicted", quantile(predicted, 0.5));
}

await measureTicks();
if (existsSync(hostProgram)) await measureFrames();
process.exit(0);
