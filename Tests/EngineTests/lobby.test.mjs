// Hosts with several tables: how the page's lobby chooses, and pages and terminals at the same tables.

import assert from "node:assert/strict";
import test from "node:test";

import { END_CODES, EVENTS, LINKS } from "../../Sources/WebPages/air-hockey.js";
import {
  chooseTable, describe, fragmentOf, placeIn,
} from "../../Sources/WebPages/lobby.js";
import { Browser, skip as skipBrowser } from "./chromium.mjs";
import { Client, Player, skipHost, startHost, until } from "./support.mjs";

test("the fragment of an address names a table, or none", () => {
  assert.deepEqual(placeIn("#table=3"), { table: 3, watches: false });
  assert.deepEqual(placeIn("#code=K7QM-2XRT&table=64"), { table: 64, watches: false });
  assert.deepEqual(placeIn("#table=12&watch"), { table: 12, watches: true });
  for (const fragment of ["", "#", "#join", "#table", "#table=", "#table=0", "#table=x", "#table=-1",
    "#table=1.5", "#table=65536", "#table=999999999999", "#watch"]) {
    assert.equal(placeIn(fragment), null, fragment);
  }
  for (const place of [{ table: 1, watches: false }, { table: 64, watches: true }]) {
    assert.deepEqual(placeIn(fragmentOf(place)), place);
  }
});

test("a free table is the fullest one with a seat, else the first empty one", () => {
  const tables = (...seats) => seats.map((freeSeats, index) => ({ table: index + 1, freeSeats }));
  assert.equal(chooseTable(tables(2, 2, 2)), 1);
  assert.equal(chooseTable(tables(0, 2, 1, 1)), 3);
  assert.equal(chooseTable(tables(0, 0, 2)), 3);
  assert.equal(chooseTable(tables(0, 0)), null);
  assert.equal(chooseTable([]), null);
});

test("a table is described in words", () => {
  const entry = { players: [null, null], freeSeats: 2, score: [0, 0], spectators: 0 };
  assert.deepEqual(describe(entry), {
    players: "Empty", seats: "2 free seats", action: "Play",
  });
  const played = { players: ["Leo", "Computer"], freeSeats: 1, score: [3, 2], spectators: 2 };
  assert.deepEqual(describe(played), {
    players: "Leo 3 – 2 Computer", seats: "1 free seat, 2 watching", action: "Play",
  });
  const full = { players: ["Leo", null], freeSeats: 0, score: [0, 6], spectators: 0 };
  assert.deepEqual(describe(full), {
    players: "Leo 0 – 6 nobody", seats: "seat kept for its player", action: "Watch",
  });
  assert.deepEqual(describe({ ...full, players: ["Leo", "Zoe"] }), {
    players: "Leo 0 – 6 Zoe", seats: "full", action: "Watch",
  });
});

/** Returns what a host says about its tables. */
const fetchTables = async (address) =>
  (await (await fetch(new URL("/tables", address))).json()).tables;

/** Waits until a table of a host has players of these names. */
async function untilSeated(address, table, names, host) {
  const end = Date.now() + 20000;
  while (true) {
    const entry = (await fetchTables(address))[table - 1];
    if (JSON.stringify(entry.players) === JSON.stringify(names)) return entry;
    if (Date.now() > end) throw new Error(`not ${names}: ${JSON.stringify(entry)} ${host.lines}`);
    await new Promise((resume) => setTimeout(resume, 50));
  }
}

/** Joins a host over TCP, as a page does. */
async function join(context, port, id, name, place) {
  const player = await Player.join(port, id, name, place);
  context.after(() => player.end());
  return player;
}

test("players over UDP and TCP meet at the tables that they name, and all matches end with a word",
  { skip: skipHost }, async (context) => {
    const host = startHost(context, "--tables", "3", "--kiosk");
    const address = await host.page(), { host: place, port } = new URL(address);
    const empty = { freeSeats: 2, isPaused: false, match: 0, players: [null, null], score: [0, 0] };
    assert.deepEqual(await fetchTables(address), [1, 2, 3].map(
      (table) => ({ ...empty, spectators: 0, table })));

    const leo = await join(context, port, 7, "Leo", { table: 2 });
    const alone = await untilSeated(address, 2, ["Leo", "Computer"], host);
    assert.equal(alone.freeSeats, 1);
    const ada = new Client(context, "join", place, "Ada", "--table", "2", "--transport", "udp");
    assert.equal((await untilSeated(address, 2, ["Leo", "Ada"], host)).freeSeats, 0);
    // Without a number, a player gets the first free seat.
    const eve = new Client(context, "join", place, "Eve", "--transport", "tcp");
    await untilSeated(address, 1, ["Eve", "Computer"], host);
    const zoe = await join(context, port, 8, "Zoe", { table: 3 });
    await untilSeated(address, 3, ["Zoe", "Computer"], host);
    const fan = await join(context, port, 9, "Fan", { table: 2, watches: true });
    const bea = new Client(context, "watch", place, "Bea", "--table", "3");
    await until(() => fan.engine.state.link === LINKS.playing, 5, "the state of the spectator");
    assert.deepEqual([leo, zoe, fan].map(({ engine }) => engine.state.seat), [0, 0, null]);
    await until(() => fan.engine.playerNames.join() === "Leo,Ada", 5, "the players' names");
    const { tick } = fan.engine.confirmed;
    await until(() => fan.engine.confirmed.tick > tick + 60n, 5, "a second of the match");
    assert.deepEqual([leo, zoe, fan].map(({ engine }) => engine.state.desyncs), [0, 0, 0]);

    // Monitors learn about all tables.
    const get = async (path) => (await fetch(new URL(path, address))).text();
    const roster = JSON.parse(await get("/roster"));
    assert.equal(roster.host, "Maya");
    assert.deepEqual(roster.tables.map(({ freeSeats }) => freeSeats), [1, 0, 1]);
    await until(() => host.count("Bea watches") === 1, 5, host.lines);
    const metrics = await get("/metrics");
    assert.match(metrics, /^airhockey_players\{table="2"\} 2\.0$/m);
    assert.match(metrics, /^airhockey_spectators\{table="3"\} 1\.0$/m);
    assert.equal(await get("/health"), "ok\n");

    // A table that does not exist, and one that is full, are told in a sentence.
    const missing = "There is no table 9: this host has the tables 1 to 3.";
    const full = "Table 2 is full: watch it, or choose another one.";
    for (const [table, sentence] of [[9, missing], [2, full]]) {
      const player = await join(context, port, 20 + table, "Max", { table });
      await until(() => player.has(EVENTS.left), 5, sentence);
      const { first } = player.events.find(({ code }) => code === EVENTS.left);
      assert.equal(first, END_CODES.declined);
      assert.equal(player.engine.endText, sentence);
      const client = new Client(context, "join", place, "Max", "--table", `${table}`);
      assert.notEqual(await client.ended, 0);
      assert.ok(client.errors.includes(sentence), client.errors);
    }

    const begin = Date.now();
    host.process.kill("SIGTERM");
    const summary = await host.summary();
    assert.ok(Date.now() - begin < 5000);
    assert.equal(summary.role, "tables");
    assert.equal(summary.endReason, "interrupted");
    assert.ok(summary.ticks > 120);
    for (const player of [leo, zoe, fan]) {
      await until(() => player.has(EVENTS.left), 5, "the end");
      assert.ok(player.has(EVENTS.finalScore));
      // As agreed.
      assert.equal(player.events.find(({ code }) => code === EVENTS.left).first, 2);
    }
    for (const client of [ada, eve, bea]) {
      const { desyncs, endReason } = await client.summary();
      assert.equal(endReason, "finished");
      assert.equal(desyncs, 0);
    }
    assert.equal((await ada.summary()).peer, "Leo");
  });

test("a host with one table has no lobby, and no second table", { skip: skipHost },
  async (context) => {
    const host = startHost(context, "--players", "2");
    const address = await host.page(), { port } = new URL(address);
    assert.equal((await fetch(new URL("/tables", address))).status, 404);
    const other = await join(context, port, 5, "Leo", { table: 2 });
    await until(() => other.has(EVENTS.left), 5, "the refusal");
    assert.equal(other.engine.endText, "There is no table 2: this host has one table.");
    const player = await join(context, port, 6, "Leo", { table: 1 });
    await until(() => player.engine.state.link === LINKS.playing, 5, "the match");
  });

const element = (id) => `document.getElementById("${id}")`;
const text = (id) => `${element(id)}.textContent`;
const click = (id) => `${element(id)}.click()`;
const row = (table) => `document.querySelectorAll("#tables button")[${table - 1}]`;
const label = (table) => `${row(table)}.getAttribute("aria-label")`;
const isPlaying = (near, far) =>
  `${text("near-name")} === "${near}" && ${text("far-name")} === "${far}"`;

/** Opens the lobby of a host in a browser of its own, and types a name. */
async function open(context, address, name, screen) {
  const browser = await Browser.open(address, screen);
  context.after(() => browser.close());
  await browser.until(`${element("lobby")}.open`);
  await browser.evaluate(`(() => {
    const field = ${element("lobby-name")};
    field.value = "${name}";
    field.dispatchEvent(new Event("change"));
  })()`);
  return browser;
}

test("pages choose their tables in the lobby, and come back to them", { skip: skipHost || skipBrowser },
  async (context) => {
    const host = startHost(context, "--tables", "12");
    const address = await host.page(), { host: place } = new URL(address);
    const phone = { width: 360, height: 640, isMobile: true };
    const leo = await open(context, address, "Leo", phone);
    assert.equal(await leo.evaluate(`document.querySelectorAll("#tables button").length`), 12);
    const boxes = await leo.evaluate(`[...document.querySelectorAll("#lobby button")]
      .map((each) => each.getBoundingClientRect()).map(({ left, right, height }) =>
        [left, right, height])`);
    for (const [left, right, height] of boxes) {
      assert.ok(left >= 0 && right <= phone.width && height >= 38, `${left} ${right} ${height}`);
    }
    await leo.evaluate(`${row(2)}.click()`);
    await leo.until(isPlaying("Leo", "Computer"));
    assert.equal(await leo.evaluate("location.hash"), "#table=2");

    // The other page sees where Leo is, and a free table is where somebody waits.
    const zoe = await open(context, address, "Zoe", { width: 1000, height: 700 });
    await zoe.until(`/^Table 2: Leo \\d – \\d Computer, 1 free seat\\. Play\\.$/.test(${label(2)})`);
    await zoe.evaluate(click("free-table"));
    await Promise.all([
      zoe.until(isPlaying("Zoe", "Leo")), leo.until(isPlaying("Leo", "Zoe")),
    ]);
    assert.equal(await zoe.evaluate("location.hash"), "#table=2");

    // While a page is being reloaded, nobody else gets its seat.
    await leo.evaluate(`location.href = "about:blank"`);
    const kept = await untilSeated(address, 2, [null, "Zoe"], host);
    assert.equal(kept.freeSeats, 0);
    const late = await join(context, new URL(address).port, 9, "Ida", { table: 2 });
    await until(() => late.has(EVENTS.left), 5, "the refusal");
    assert.equal(late.engine.endText, "Table 2 is full: watch it, or choose another one.");
    await leo.evaluate(`location.href = "${address}#table=2"`);
    await leo.until(`globalThis.airHockey?.state.seat === 0 && ${isPlaying("Leo", "Zoe")}`);

    // Leaving leads to the lobby, from which keys lead to another table.
    await zoe.until(`airHockey.state.pauses === 0`);
    await zoe.press("Escape", "Escape");
    await zoe.until(`${text("message-title")} === "Paused"`);
    await zoe.evaluate(click("quit"));
    await zoe.until(`${element("lobby")}.open`);
    assert.equal(await zoe.evaluate("location.hash"), "");
    const max = new Client(context, "join", place, "Max", "--table", "2");
    await zoe.until(`/^Table 2: Leo \\d – \\d Max, full\\. Watch\\.$/.test(${label(2)})`);

    // The link of a full table says so in a sentence, and the lobby leads to the match.
    await zoe.evaluate(`location.hash = "#table=2"`);
    await zoe.until(`${text("message-text")} === "Table 2 is full: watch it, or choose another one."`);
    assert.equal(await zoe.evaluate(text("message-title")), "Not joined");
    assert.equal(await zoe.evaluate(text("proceed")), "Watch");
    await zoe.evaluate(click("quit"));
    await zoe.until(`${element("lobby")}.open`);
    await zoe.evaluate(`${row(1)}.focus()`);
    await zoe.press("ArrowDown", "ArrowDown");
    assert.equal(await zoe.evaluate(`document.activeElement === ${row(2)}`), true);
    await zoe.evaluate(`document.activeElement.click()`);
    await zoe.until(`airHockey.state.link === 3 && ${isPlaying("Leo", "Max")}`);
    assert.equal(await zoe.evaluate("airHockey.state.seat"), null);
    assert.equal(await zoe.evaluate("location.hash"), "#table=2&watch");
    assert.equal(await zoe.evaluate(`${element("pause")}.getAttribute("aria-label")`), "Stop watching");
    await zoe.until(`${text("quality")}.startsWith("Table 2, ")`);
    await zoe.press("Escape", "Escape");
    await zoe.until(`${element("lobby")}.open`);

    // Two tables are played when the host ends.
    await zoe.evaluate(`location.hash = "#table=12"`);
    await zoe.until(isPlaying("Zoe", "Computer"));
    await leo.until(`airHockey.state.phase !== 255`);
    host.process.kill("SIGTERM");
    for (const page of [leo, zoe]) {
      await page.until(`${text("message-title")} === "The match is over"`, 10);
      assert.match(await page.evaluate(text("message-text")), /The final score is \d to \d\./);
    }
    assert.equal((await host.summary()).role, "tables");
    assert.equal((await max.summary()).endReason, "finished");
    assert.deepEqual([...leo.errors, ...zoe.errors], []);
  });
