// Matches without a network, on the time of the test.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

import {
  AWAY, GAME_EVENTS, HOME, LINKS, PHASES, PLAYERS, REQUESTS, TABLE, TOUCHES,
} from "../../Sources/WebPages/air-hockey.js";
import { load, TestClock } from "./support.mjs";

/** Plays a number of ticks, each when it is due, and returns the events. */
function play(engine, clock, ticks, eachTick = () => {}) {
  const events = [];
  for (let tick = 0; tick < ticks; tick++) {
    eachTick(engine.state);
    clock.time += 1000 / 60;
    events.push(...engine.update());
  }
  return events;
}

async function make(home, away, seed = 3n) {
  const clock = new TestClock(), engine = await load(clock.reader);
  engine.start(home, away, seed);
  // Half a tick ahead, so that rounding never moves a tick into the next call.
  clock.time += 500 / 60;
  return { engine, clock };
}

test("the engine has the hashes of a native build over the fixed match", async () => {
  const hashes = (await readFile("Tests/Fixtures/match-hashes.txt", "utf8")).trim().split("\n");
  const { engine, clock } = await make(PLAYERS.hard, PLAYERS.medium);
  const found = [];
  for (let part = 1; part <= 3; part++) {
    play(engine, clock, 2000);
    assert.equal(engine.confirmed.tick, BigInt(2000 * part));
    found.push(String(engine.confirmed.hash));
  }
  assert.deepEqual(found, hashes);
});

test("a person who follows the puck plays a match against the computer to its end", async () => {
  const { engine, clock } = await make(PLAYERS.person, PLAYERS.easy);
  let last;
  const events = play(engine, clock, 60 * 600, (state) => {
    last = state;
    const { puck } = state, isNear = puck.x < -0.05 && puck.x > state.mallets[HOME].x;
    engine.setTarget(HOME, isNear ? puck.x + 0.05 : -0.8, isNear ? puck.y : 0.6 * puck.y);
  });
  assert.equal(last.phase, PHASES.matchEnd);
  assert.ok(events.some(({ code }) => code === GAME_EVENTS.won));
  assert.ok(events.some(({ code, first }) =>
    code === GAME_EVENTS.touch && first & TOUCHES.homeMallet));
  const goals = events.filter(({ code }) => code === GAME_EVENTS.goal);
  for (const seat of [HOME, AWAY]) {
    assert.equal(goals.filter(({ first }) => first === seat).length, last.score[seat]);
  }
  assert.equal(Math.max(...last.score), 7);
  engine.request(HOME, REQUESTS.startMatch);
  play(engine, clock, 2);
  assert.deepEqual(engine.state.score, [0, 0]);
  assert.equal(engine.state.phase, PHASES.faceOff);
});

test("two people move their own mallets, each within a half", async () => {
  const { engine, clock } = await make(PLAYERS.person, PLAYERS.person);
  engine.setTarget(HOME, 0.5, 0.2);
  engine.setTarget(AWAY, 0.6, -0.3);
  play(engine, clock, 60);
  const [home, away] = engine.state.mallets;
  assert.ok(home.x < -TABLE.malletRadius + 1e-6 && Math.abs(home.y - 0.2) < 1e-3);
  assert.ok(Math.abs(away.x - 0.6) < 1e-3 && Math.abs(away.y + 0.3) < 1e-3);
  assert.equal(engine.state.link, LINKS.none);
});

test("a paused match stands still until the pause ends", async () => {
  const { engine, clock } = await make(PLAYERS.person, PLAYERS.hard);
  play(engine, clock, 300);
  engine.request(HOME, REQUESTS.pause);
  const events = play(engine, clock, 60);
  assert.deepEqual(events.map(({ code }) => code), [GAME_EVENTS.paused]);
  const { puck, pauses } = engine.state;
  assert.equal(pauses, 1);
  play(engine, clock, 60);
  assert.deepEqual(engine.state.puck, puck);
  engine.request(HOME, REQUESTS.resume);
  play(engine, clock, 1);
  assert.equal(engine.state.pauses, 0);
});

test("a page that slept plays at most a quarter of a second at once", async () => {
  const { engine, clock } = await make(PLAYERS.easy, PLAYERS.easy);
  play(engine, clock, 10);
  clock.time += 60_000;
  engine.update();
  assert.equal(engine.state.tick, 25);
});

test("what is drawn lies between the last two ticks", async () => {
  const { engine, clock } = await make(PLAYERS.hard, PLAYERS.hard);
  play(engine, clock, 400);
  const drawn = [];
  for (let part = 0; part < 8; part++) {
    clock.time += 1000 / 240;
    engine.update();
    drawn.push(engine.state.mallets[HOME].y);
  }
  // Four pictures a tick, and none like the one before.
  assert.equal(new Set(drawn).size, 8);
});
