// A game of any kind in a page: the tug of war of the documentation, and what a page refuses.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";

import { Game, LINKS } from "../../Sources/WebPages/game.js";
import { Browser, skip as skipBrowser } from "./chromium.mjs";
import { TCPStream, TestClock, until } from "./support.mjs";

/** The folder with the page of the tug of war, and its host's program. */
const page = process.env.CAROM_GAME_PAGE ?? ".build/game";
const program = process.env.CAROM_GAME_HOST ?? "Examples/.build/debug/TugOfWar";
const skip = existsSync(`${page}/game.wasm`) ? false : "the tug of war is not compiled";
const skipHost = skip || (existsSync(program) ? false : "the host's program is not built");

const load = async (clock) => Game.load(await readFile(`${page}/game.wasm`), clock);
const rope = (state) => state.getInt32(0, true);

/** Starts the host of the documentation, and returns the address of its page. */
async function startHost(context) {
  const host = spawn(program, ["page", page, "0"], { stdio: ["ignore", "pipe", "ignore"] });
  context.after(() => host.kill("SIGKILL"));
  let output = "";
  host.stdout.on("data", (text) => (output += text));
  await until(() => output.includes("\n"), 20, "an address in " + output);
  return new URL(output.trim());
}

/** Joins over TCP, whose stream carries the same bytes as a WebSocket. */
async function join(context, port, player) {
  const engine = await load(), events = [];
  const update = () => events.push(...engine.update());
  engine.join(
    { id: new Uint8Array(16).fill(7), name: "Leo", ...player }, update, () => new TCPStream(port));
  const timer = setInterval(update, 8);
  context.after(() => {
    clearInterval(timer);
    engine.leave();
  });
  return { engine, events };
}

test("a page plays a game without a network, tick by tick", { skip }, async () => {
  const clock = new TestClock(), engine = await load(clock.reader);
  assert.equal(engine.state, null);
  assert.equal(engine.status.rate, 0);
  engine.start(new Uint8Array(4), 2);
  engine.setInput([8], 0);
  engine.setInput([3], 1);
  clock.time += 500 / 60;
  const events = [];
  for (let tick = 0; tick < 300; tick++) {
    clock.time += 1000 / 60;
    events.push(...engine.update());
    assert.equal(rope(engine.state), Math.max(-1000, -5 * (tick + 1)));
    if (tick < 200) assert.equal(rope(engine.previousState) + 5 * tick, 0);
  }
  assert.deepEqual(
    events.map(({ type, tick, data }) => [type, tick, data.byteLength]), [["confirmed", 199, 0]]);
  assert.equal(engine.status.tick, 300);
  assert.equal(engine.status.link, LINKS.none);
  assert.ok(Math.abs(engine.status.fraction - 0.5) < 0.01);
  // A game can go on from a state that was kept.
  engine.start(new Uint8Array([0x9c, 0xff, 0xff, 0xff]), 2, 30);
  assert.equal(rope(engine.state), -100);
  assert.equal(engine.status.rate, 30);
});

test("what the game has not is refused", { skip }, async () => {
  const engine = await load(() => 0);
  assert.throws(() => engine.start(new Uint8Array(3), 2), /no such state/);
  assert.throws(() => engine.start(new Uint8Array([0, 0, 1, 0]), 2), /no such state/);
  assert.throws(() => engine.start(new Uint8Array(4), 3), /no such state/);
  assert.throws(() => engine.start(new Uint8Array(4), 2, 0), /no such state/);
  engine.start(new Uint8Array(4), 2);
  assert.throws(() => engine.setInput([10], 0), /not an input/);
  assert.throws(() => engine.setInput([1, 2], 0), /not an input/);
  assert.throws(() => engine.setInput([1], 2), /not an input/);
  const joinAs = (application) => engine.join(
    { application, id: new Uint8Array(16) }, () => {}, () => ({ close() {} }));
  assert.throws(() => joinAs(""), /not a player/);
  assert.throws(() => joinAs("x".repeat(33)), /not a player/);
});

test("a client wins against the host of the documentation", { skip: skipHost }, async (context) => {
  const { port } = await startHost(context);
  const { engine, events } = await join(context, port, { application: "tug-of-war" });
  await until(() => engine.state !== null, 5, "the first state");
  assert.equal(engine.hostName, "Maya");
  assert.equal(engine.status.player, 1);
  assert.equal(engine.status.link, LINKS.playing);
  // The host waits for the first pull, however long it takes.
  const { tick } = engine.confirmed;
  await until(() => engine.confirmed.tick > tick + 60n, 20, "more ticks");
  assert.equal(rope(engine.confirmedState), 0);
  engine.setInput([9]);
  const isDecided = ({ type }) => type === "confirmed";
  await until(() => events.some(isDecided), 20, "the end");
  assert.ok(rope(engine.confirmedState) >= 1000);
  assert.equal(events.filter(isDecided).length, 1);
  // It was predicted before that, and the prediction held.
  assert.deepEqual(
    events.map(({ type }) => type).filter((type) => type !== "retracted").slice(0, 2),
    ["joined", "predicted"]);
  assert.equal(engine.status.desyncs, 0);
  assert.ok(engine.status.roundTrip !== null && engine.status.rate === 60);
});

test("the host of another game is told", { skip: skipHost }, async (context) => {
  const { port } = await startHost(context);
  const { events } = await join(context, port, { application: "chess" });
  await until(() => events.some(({ type }) => type === "left"), 5, "the refusal");
  assert.equal(events.at(-1).reason, "The host plays another game.");
});

test("a browser wins against the host of the documentation", { skip: skipHost || skipBrowser },
  async (context) => {
    const { href } = await startHost(context);
    const browser = await Browser.open(href, { width: 360, height: 640, isMobile: true });
    context.after(() => browser.close());
    const notice = `document.getElementById("notice").textContent`;
    await browser.until(`${notice} === "You play against Maya."`);
    const place = await browser.evaluate(`(() => {
      const box = document.getElementById("pull").getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    })()`);
    await browser.touch("touchStart", [place]);
    await browser.until(`${notice} === "You have won."`);
    assert.equal(await browser.evaluate(`document.getElementById("rope").value`), 2000);
    await browser.touch("touchEnd", []);
    assert.deepEqual(browser.errors, []);
  });

/** The lines that `make wasm GAME=…` says about a game, which is refused. */
function refusal(context, text) {
  const folder = mkdtempSync(path.join(tmpdir(), "carom-game-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "Game.swift");
  writeFileSync(file, text);
  const { status, stderr } = spawnSync("Tests/page.sh", [path.join(folder, "page"), file]);
  assert.equal(status, 1);
  return String(stderr).replaceAll(folder + "/", "").trimEnd().split("\n");
}

const canCompile = process.env.CAROM_MODULES ? false : "the modules are not compiled";
/** The documentation's game. */
const game = () => readFileSync("Examples/Sources/TugOfWar/TugOfWar.swift", "utf8");
/** Replaces the first occurrence of a line's beginning, and returns its number and the text. */
function change(before, after) {
  const text = game();
  assert.ok(text.includes(before), before);
  return { line: text.split(before)[0].split("\n").length, text: text.replace(before, after) };
}

test("what Embedded Swift refuses is told in a line, with its place", { skip: canCompile },
  (context) => {
    const foundation = change("import Carom", "import Foundation");
    assert.deepEqual(
      refusal(context, foundation.text), ["Game.swift:1:8: error: no such module 'Foundation'"]);
    const inputs = change("  var rope:", "  var inputs: [any SimulationInput] { [Pull(1)] }\n  var rope:");
    const [told, ...rest] = refusal(context, inputs.text.replace("rope.magnitude < 1_000",
      "rope.magnitude < 1_000, inputs.count == 1"));
    assert.match(told, new RegExp(`^Game.swift:${inputs.line}:\\d+: error: .*'any SimulationInput'`));
    assert.deepEqual(rest, []);
    const codable = change("struct TugOfWar: Simulation, PacketCodable", "struct TugOfWar: Simulation");
    const lines = refusal(context, codable.text);
    assert.equal(lines.length, 1);
    assert.match(lines[0], new RegExp(`^Game.swift:${codable.line}:\\d+: error: .*'PacketCodable'$`));
  });

test("a page has one simulation", { skip: canCompile }, (context) => {
  const [none] = refusal(context, change("Simulation, ", "").text);
  assert.equal(none, "error: no type is declared as a Simulation in: Game.swift");
  const second = "\nstruct Second:\n  Sendable, Simulation\n{\n}\n";
  assert.deepEqual(
    refusal(context, game() + second).map((line) => line.split(": ").at(-1)), ["TugOfWar", "Second"]);
});

test("a function that a page does not have is told with its place", { skip: canCompile },
  (context) => {
    const { line, text } = change(
      "struct TugOfWar", '@_silgen_name("sin") func sine(_ x: Double) -> Double\n\nstruct TugOfWar');
    const lines = refusal(context, text.replace("rope += ", "rope += Int32(sine(Double(rope))) + "));
    assert.deepEqual(lines, [`Game.swift:${line}: error: a page has no function 'sin'`]);
  });

test("a file that is not there is told", () => {
  assert.throws(
    () => execFileSync("Tests/page.sh", ["/tmp/none", "none.swift"], { stdio: "pipe" }),
    ({ stderr }) => String(stderr) === "none.swift: there is no such file\n");
});
