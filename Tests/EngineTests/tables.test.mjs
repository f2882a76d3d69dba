// Tables of two clients: pages that play each other, or a player in a terminal, through their host.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import test from "node:test";

import { Browser, skip as skipBrowser } from "./chromium.mjs";
import { hostProgram, makePage, skipHost, startHost, until } from "./support.mjs";

const skip = skipHost || skipBrowser;
const screen = { width: 800, height: 600 };
const text = (id) => `document.getElementById("${id}").textContent`;

/** Opens the page of a host in a browser of its own, and joins as a player of this name. */
async function join(context, address, name) {
  const browser = await Browser.open(address, screen);
  context.after(() => browser.close());
  await browser.until(`document.getElementById("title").open`);
  await browser.evaluate(`(() => {
    const field = document.getElementById("name");
    field.value = "${name}";
    field.dispatchEvent(new Event("change"));
  })()`);
  await browser.evaluate(`document.getElementById("join").click()`);
  await browser.until(`airHockey.state.seat !== null && ${text("near-name")} === "${name}"`);
  return browser;
}

/** Keeps the hash of each certain tick that a page sees. */
const recordHashes = `(() => {
  globalThis.hashes = {};
  const record = () => {
    const { tick, hash } = airHockey.confirmed;
    hashes[tick] = hash.toString(16);
    requestAnimationFrame(record);
  };
  record();
})()`;

/** The hashes of each tick of a recording. */
function readHashes(file) {
  const lines = execFileSync(hostProgram, ["replay", file, "--hashes"], { encoding: "utf8" });
  return new Map(lines.trim().split("\n").map((line) => line.split(" ")));
}

/** Checks that what pages have seen is what the host has played, at more than a number of ticks. */
function compare(seen, played, least) {
  const ticks = Object.keys(seen).filter((tick) => played.has(tick));
  assert.ok(ticks.length > least, `${ticks.length} ticks of ${Object.keys(seen).length}`);
  for (const tick of ticks) assert.equal(seen[tick], played.get(tick), `tick ${tick}`);
}

test("two pages play each other, in step with their host; one is reloaded", { skip },
  async (context) => {
    const recording = `${makePage(context)}/match`;
    const host = startHost(context, "--players", "2", "--record", recording);
    const address = await host.page();
    const leo = await join(context, address, "Leo");
    await leo.until(`${text("far-name")} === "Computer"`);
    const zoe = await join(context, address, "Zoe");
    await Promise.all([
      leo.until(`${text("far-name")} === "Zoe"`), zoe.until(`${text("far-name")} === "Leo"`),
    ]);
    const seats = [leo, zoe].map((page) => page.evaluate("airHockey.state.seat"));
    assert.deepEqual(await Promise.all(seats), [0, 1]);
    await Promise.all([leo, zoe].map((page) => page.evaluate(recordHashes)));

    // A touch moves a mallet, and the other page sees it.
    await leo.evaluate(`airHockey.setTarget(0, -0.6, 0.3)`);
    await zoe.until(`Math.abs(airHockey.state.mallets[0].y - 0.3) < 0.01`);

    const { match } = await zoe.evaluate("airHockey.state");
    await leo.reload();
    await zoe.until(`${text("notice")}.startsWith("Waiting for your opponent")`);
    await Promise.all([
      leo.until(`globalThis.airHockey?.state.seat === 0 && ${text("far-name")} === "Zoe"`),
      zoe.until(`${text("far-name")} === "Leo" && airHockey.state.pauses === 0`),
    ]);
    assert.equal((await leo.evaluate("airHockey.state")).match, match);
    await leo.evaluate(recordHashes);
    // A page on a busy computer draws few frames.
    await Promise.all([leo, zoe].map((page) => page.until("Object.keys(hashes).length > 45")));

    const seen = [await leo.evaluate("hashes"), await zoe.evaluate("hashes")];
    for (const page of [leo, zoe]) {
      assert.equal((await page.evaluate("airHockey.state")).desyncs, 0);
    }
    host.process.kill("SIGTERM");
    const summary = await host.summary();
    assert.equal(summary.role, "table");
    await zoe.until(`${text("message-title")} === "The match is over"`);
    const played = readHashes(recording);
    compare(seen[0], played, 20);
    compare(seen[1], played, 40);
    assert.deepEqual([...leo.errors, ...zoe.errors], []);
  });

test("a page plays a client in a terminal, who joined over UDP", { skip }, async (context) => {
  const host = startHost(context, "--players", "2");
  const address = await host.page();
  const client = spawn(hostProgram, [
    "join", new URL(address).host, "--bot", "--headless", "--json", "--name", "Ada",
    "--transport", "udp", "--security", "none",
  ], { stdio: ["ignore", "pipe", "ignore"] });
  context.after(() => client.kill("SIGKILL"));
  let output = "";
  client.stdout.on("data", (bytes) => (output += bytes));
  const ended = new Promise((resolve) => client.on("close", resolve));
  await until(() => host.count("Ada sits down") === 1, 10, host.lines);
  const page = await join(context, address, "Leo");
  await page.until(`${text("far-name")} === "Ada"`);
  await page.until(`airHockey.state.seat === 1 && airHockey.state.phase === 2`);
  const { tick } = await page.evaluate("airHockey.state");
  await page.until(`airHockey.confirmed.tick > ${tick + 120}`);
  assert.equal((await page.evaluate("airHockey.state")).desyncs, 0);
  // The notice lasts for seconds, in which a busy computer may not look.
  await page.evaluate(`(() => {
    const notice = document.getElementById("notice");
    new MutationObserver(() => {
      if (notice.textContent === "Ada left. Computer plays now.") globalThis.isTold = true;
    }).observe(notice, { childList: true });
  })()`);
  client.kill("SIGTERM");
  await ended;
  const summary = JSON.parse(output.trim());
  assert.equal(summary.peer, "Leo");
  assert.equal(summary.desyncs, 0);
  assert.equal(summary.transport, "udp");
  assert.equal(summary.endReason, "interrupted");
  await page.until(`${text("notice")}.startsWith("Waiting for your opponent")`);
  await page.until("globalThis.isTold");
  assert.deepEqual(page.errors, []);
});

test("an exhibit answers monitors, and ends with the score", { skip: skipHost },
  async (context) => {
    const host = startHost(context, "--players", "2", "--kiosk");
    const address = await host.page();
    const get = (path) => fetch(new URL(path, address));
    const roster = async () => (await get("/roster")).json();
    assert.deepEqual(await roster(), {
      host: "Maya", isPaused: false, match: 0, players: [null, null], score: [0, 0],
      spectators: 0,
    });
    assert.equal((await get("/health")).status, 200);
    const player = spawn(hostProgram, [
      "join", new URL(address).host, "--bot", "--headless", "--json", "--name", "Ada",
      "--security", "none",
    ], { stdio: ["ignore", "pipe", "ignore"] });
    context.after(() => player.kill("SIGKILL"));
    let output = "";
    player.stdout.on("data", (bytes) => (output += bytes));
    const ended = new Promise((resolve) => player.on("close", resolve));
    await until(() => host.count("game 1 begins") === 1, 10, host.lines);
    assert.deepEqual((await roster()).players, ["Ada", "Computer"]);
    const metrics = await (await get("/metrics")).text();
    assert.match(metrics, /^carom_joined_total 1$/m);

    // A host that stands still is late.
    host.process.kill("SIGSTOP");
    await new Promise((resume) => setTimeout(resume, 300));
    host.process.kill("SIGCONT");
    const health = await get("/health");
    assert.equal(health.status, 503);
    assert.match(await health.text(), /^A tick is or was late by \d+ ms\.\n$/);

    const begin = Date.now();
    host.process.kill("SIGTERM");
    const summary = await host.summary();
    assert.ok(Date.now() - begin < 5000);
    assert.equal(summary.endReason, "interrupted");
    await ended;
    const own = JSON.parse(output.trim());
    assert.equal(own.endReason, "finished");
    assert.equal(own.score, summary.score);
  });

test("the page of an exhibit comes back by itself when its host does", { skip },
  async (context) => {
    const options = ["--players", "2", "--kiosk"];
    const first = startHost(context, ...options), address = await first.page();
    const { port } = new URL(address);
    const page = await join(context, address, "Leo");
    const roster = async () => (await fetch(new URL("/roster", address))).json();
    // The page knows that this is an exhibit once its question has been answered.
    const hasAsked = `performance.getEntriesByType("resource").some(({ name }) =>
      name.endsWith("/health"))`;
    await page.until(hasAsked);
    first.process.kill("SIGTERM");
    await first.ended;
    await page.until(`${text("message-text")}.endsWith("This page joins again by itself.")`);
    const second = startHost(context, ...options, "--port", port);
    await until(() => second.count("Leo sits down") === 1, 60, "the return of the page");
    await page.until(`airHockey.state.seat !== null && ${text("near-name")} === "Leo"`);
    assert.deepEqual((await roster()).players, ["Leo", "Computer"]);

    // So it does when the host had no time for a goodbye.
    await page.until(hasAsked);
    second.process.kill("SIGKILL");
    await second.ended;
    const third = startHost(context, ...options, "--port", port);
    await until(() => third.count("Leo sits down") >= 1, 60, "the return of the page");
    await page.until(`globalThis.airHockey?.state.seat === 0`);
    assert.deepEqual(page.errors, []);
  });

test("a page does not come back by itself to a host that is no exhibit", { skip },
  async (context) => {
    const host = startHost(context, "--players", "2");
    const page = await join(context, await host.page(), "Leo");
    host.process.kill("SIGTERM");
    await page.until(`${text("message-title")} === "The match is over"`);
    assert.doesNotMatch(await page.evaluate(text("message-text")), /by itself/);
  });
