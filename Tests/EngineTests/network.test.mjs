// Matches against a real host, over TCP on the loopback interface: the bytes of a WebSocket link.

import assert from "node:assert/strict";
import test from "node:test";

import {
  AWAY, EVENTS, GAME_EVENTS, HOME, LINKS, REQUESTS,
} from "../../Sources/WebPages/air-hockey.js";
import { Host, Player, skipHost as skip, until } from "./support.mjs";

test("an engine plays in step with a host, and ends with its score", { skip }, async () => {
  const server = new Host("--seconds", "6");
  const player = await Player.join(await server.port());
  try {
    await until(() => player.engine.state.link === LINKS.playing, 5, "the first state");
    assert.equal(player.engine.hostName, "Maya");
    await until(() => player.engine.state.roundTrip !== null, 2, "a round trip");
    player.engine.request(AWAY, REQUESTS.pause);
    await until(() => player.has(GAME_EVENTS.paused), 2, "the pause");
    player.engine.request(AWAY, REQUESTS.resume);
    await until(() => player.has(EVENTS.left), 10, "the end");
    const summary = await server.summary();
    assert.equal(player.events.find(({ code }) => code === EVENTS.left).first, 2);
    const score = player.events.find(({ code }) => code === EVENTS.finalScore);
    assert.equal(`${score.first}-${score.second}`, summary.score);
    assert.equal(summary.peer, "Leo ü");
    assert.equal(player.engine.state.desyncs, 0);
    assert.equal(summary.desyncs, 0);
    // The host sends a hash of its state with the inputs, and the engine compares each.
    assert.ok(player.engine.confirmed.tick > 200n);
  } finally {
    player.end();
    server.end();
  }
});

test("a link that breaks is opened again, and the match goes on", { skip }, async () => {
  const server = new Host("--seconds", "30");
  const player = await Player.join(await server.port());
  try {
    await until(() => player.engine.state.link === LINKS.playing, 5, "the first state");
    player.streams[0].break();
    await until(() => player.has(EVENTS.interrupted), 5, "the interruption");
    await until(() => player.has(EVENTS.resumed), 5, "the return");
    assert.equal(player.streams.length, 2);
    const { tick } = player.engine.confirmed;
    await until(() => player.engine.confirmed.tick > tick + 60n, 5, "more ticks");
    assert.equal(player.engine.state.desyncs, 0);
  } finally {
    player.end();
    server.end();
  }
});

test("a page that is loaded again has its seat and the same match", { skip }, async () => {
  const server = new Host("--seconds", "30"), port = await server.port();
  const first = await Player.join(port);
  await until(() => first.engine.state.link === LINKS.playing, 5, "the first state");
  const { match } = first.engine.state;
  // Gone without a goodbye.
  clearInterval(first.timer);
  const second = await Player.join(port);
  try {
    await until(() => second.engine.state.link === LINKS.playing, 5, "the first state");
    assert.equal(second.engine.state.match, match);
    const third = await Player.join(port, 8);
    await until(() => third.has(EVENTS.left), 5, "the refusal");
    assert.equal(third.events.find(({ code }) => code === EVENTS.left).first, 4);
    third.end();
    second.end();
    await until(() => server.lines.includes("match ended: left"), 5, "the goodbye");
  } finally {
    first.end();
    second.end();
    server.end();
  }
});

test("the end of the host is told", { skip }, async () => {
  const server = new Host("--seconds", "30"), port = await server.port();
  const player = await Player.join(port);
  try {
    await until(() => player.engine.state.link === LINKS.playing, 5, "the first state");
    server.end();
    await until(() => player.engine.state.link === LINKS.interrupted, 5, "the interruption");
    assert.deepEqual(player.engine.state.score.length, 2);
  } finally {
    player.end();
  }
  const late = await Player.join(port);
  await until(() => late.has(EVENTS.left), 5, "the refusal");
  assert.equal(late.events.find(({ code }) => code === EVENTS.left).first, 11);
  late.end();
});
