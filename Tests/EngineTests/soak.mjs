// soak.mjs SECONDS: a host with eight tables under a load that never rests, for a number of seconds, of
// which the first tenth, at most a minute, is for warming up. At each table, a bot over UDP plays a page's
// player over TCP; real pages play, watch, and are loaded again; others come and go. The host's memory has
// to stay flat, no tick may be late by 100 ms, nobody may lose the match, and on SIGTERM everybody has to
// learn the score. One line for each; the exit status is 1 where something is not as it has to be.

import { readFile } from "node:fs/promises";

import { EVENTS, LINKS } from "../../Sources/WebPages/air-hockey.js";
import { Browser, skip as skipBrowser } from "./chromium.mjs";
import { Client, Player, startHost, until } from "./support.mjs";

const TABLES = 8;
/** The code with which a host ends its matches as agreed. */
const FINISHED = 2;
/** By how much the host's memory may grow after the warm-up, in bytes. */
const MOST_GROWTH = 2 << 20;
const seconds = Number(process.argv[2] ?? 600);
const warmUp = Math.min(60, seconds / 10);
const ends = [];
const context = { after: (action) => ends.unshift(action) };
let failures = 0;

function check(isOK, line) {
  console.log(`${isOK ? "ok      " : "FAILED  "}${line}`);
  if (!isOK) failures += 1;
}

const wait = (time) => new Promise((resolve) => setTimeout(resolve, 1000 * time));
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** The resident memory of a process, in bytes. */
async function memoryOf(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)[1]);
}

/** The memory of a player's program, in bytes. */
const programMemory = ({ engine }) => engine.program.memory.buffer.byteLength;

const text = (id) => `document.getElementById("${id}").textContent`;

async function open(address, hash, name) {
  const browser = await Browser.open(address, { width: 800, height: 600 });
  context.after(() => browser.close());
  await browser.until(`document.getElementById("lobby").open`, 30);
  await browser.evaluate(`(() => {
    const field = document.getElementById("lobby-name");
    field.value = "${name}";
    field.dispatchEvent(new Event("change"));
    location.hash = "${hash}";
  })()`);
  await browser.until(`airHockey.state.link === ${LINKS.playing}`, 30);
  return browser;
}

/** What happens every ten seconds, in turn: people come, watch and leave, and pages are loaded again. */
async function change(turn, { port, pages, log }) {
  const table = 3 + turn % (TABLES - 2);
  if (turn % 2 === 0) {
    const fan = await Player.join(port, 100 + turn % 100, "Fan", { table, watches: true });
    await until(() => fan.engine.state.link === LINKS.playing, 20, "a spectator at " + table);
    await wait(3);
    fan.end();
    log.spectators += 1;
  } else if (pages.length > 0) {
    // The one that plays, and the one that watches.
    const page = pages[(turn >> 1) % pages.length];
    await page.reload();
    await page.until(`globalThis.airHockey?.state.link === ${LINKS.playing}`, 20);
    log.reloads += 1;
  }
}

async function main() {
  const host = startHost(context, "--tables", `${TABLES}`, "--kiosk");
  const address = await host.page(), { host: place, port } = new URL(address);
  const bots = [], players = [];
  for (let table = 1; table <= TABLES; table += 1) {
    bots.push(new Client(
      context, "join", place, `Bot ${table}`, "--table", `${table}`, "--transport", "udp"));
    await until(() => host.count(`Bot ${table} sits down`) === 1, 20, host.lines);
    // A real page has the other seat of the first table.
    if (table === 1 && !skipBrowser) continue;
    const player = await Player.join(port, table, `Player ${table}`, { table });
    context.after(() => player.end());
    players.push(player);
  }
  const pages = skipBrowser ? [] : [
    await open(address, "#table=1", "Leo"), await open(address, "#table=2&watch", "Zoe"),
  ];
  if (skipBrowser) console.log(`skipped the pages: ${skipBrowser}`);
  await until(
    () => players.every(({ engine }) => engine.state.link === LINKS.playing), 20, "the matches");

  const begin = Date.now(), elapsed = () => (Date.now() - begin) / 1000;
  const log = { spectators: 0, reloads: 0 }, samples = [], late = new Set();
  let changes = Promise.resolve(), turn = 0, programs;
  while (elapsed() < seconds) {
    await wait(2);
    const health = (await (await fetch(new URL("/health", address))).text()).trim();
    // The first pages take all of a small computer while they start.
    if (health !== "ok" && elapsed() > warmUp) late.add(health);
    if (elapsed() > warmUp) {
      programs ??= players.map(programMemory);
      samples.push(await memoryOf(host.process.pid));
    }
    if (elapsed() > 10 * (turn + 1) && elapsed() + 15 < seconds) {
      const next = turn;
      turn += 1;
      changes = changes.then(() => change(next, { port, pages, log }));
    }
  }
  await changes;

  const [first, middle, last] = [0, samples.length >> 1, samples.length - 1].map((at) => samples[at]);
  check(
    last - first <= MOST_GROWTH,
    `${TABLES} tables, ${seconds} s: the host's memory is ${megabytes(first)} after the warm-up, `
      + `${megabytes(middle)} in the middle, ${megabytes(last)} at the end, `
      + `${megabytes(Math.max(...samples))} at most`);
  check(late.size === 0, `no tick late by 100 ms ${[...late].join(" ")}`);
  const grown = players.filter((player, at) => programMemory(player) > programs[at]);
  check(
    grown.length === 0,
    `the memory of ${players.length} pages' programs is ${megabytes(programMemory(players[0]))}`);
  const isPlaying = ({ engine }) => engine.state.link === LINKS.playing && engine.state.desyncs === 0;
  check(
    players.every(isPlaying),
    `all play on, in step, while ${log.spectators} came to watch and ${log.reloads} were loaded again`);

  const stopped = Date.now();
  host.process.kill("SIGTERM");
  const summary = await host.summary();
  check(
    summary.role === "tables" && summary.endReason === "interrupted",
    `SIGTERM ends the host after ${Date.now() - stopped} ms, ${summary.ticks} ticks and `
      + `${summary.games} games; ticks late by ${summary.tickJitterP50} ms (median), `
      + `${summary.tickJitterP99} ms (99th percentile), ${summary.tickJitterMost} ms (most)`);
  await wait(1);
  const learned = players.filter((player) =>
    player.has(EVENTS.finalScore)
      && player.events.some(({ code, first: why }) => code === EVENTS.left && why === FINISHED));
  check(learned.length === players.length, `${learned.length} players learn the score`);
  const told = [];
  for (const page of pages) {
    await page.until(`${text("message-title")} === "The match is over"`, 10).catch(() => {});
    told.push(await page.evaluate(text("message-text")));
  }
  check(
    told.every((each) => /The final score is \d to \d\./.test(each)),
    `${told.length} pages say: ${told[0]}`);
  const reports = await Promise.all(bots.map((bot) => bot.summary()));
  check(
    reports.every(({ endReason, desyncs }) => endReason === "finished" && desyncs === 0),
    `${reports.length} bots end: ${reports.map(({ score }) => score).join(" ")}`);
  check(
    pages.every(({ errors }) => errors.length === 0), `no error in a page ${pages.map((page) => page.errors)}`);
}

try {
  await main();
} catch (error) {
  check(false, error.stack);
}
for (const end of ends) await end();
process.exit(failures === 0 ? 0 : 1);
