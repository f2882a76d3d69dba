// A match of two pages as people play it: fingers, goals, pages that are loaded again or frozen, the death
// of the host, and an opponent that another program plays.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import test from "node:test";

import { AWAY, HOME, PHASES, TABLE } from "../../Sources/WebPages/air-hockey.js";
import { FINGER_OFFSET } from "../../Sources/WebPages/controls.js";
import { Placement } from "../../Sources/WebPages/table.js";
import { Browser, skip as skipBrowser } from "./chromium.mjs";
import { skipHost, startHost, until } from "./support.mjs";

const skip = skipHost || skipBrowser;
const phone = { width: 360, height: 640, isMobile: true };
const text = (id) => `document.getElementById("${id}").textContent`;
const shown = (selector) => `document.querySelector("#score ${selector}").textContent`;
/** For how long a finger tries to score, in milliseconds, on a computer that is busy. */
const SCORING_LIMIT = 600_000;

/** Opens the page of a host on a phone. A script may run before those of the page. */
async function open(context, address, script) {
  const browser = await Browser.open(address, phone, script);
  context.after(() => browser.close());
  await browser.until(`document.getElementById("title").open`);
  return browser;
}

/** Opens the page of a host on a phone, and joins as a player of this name. */
async function join(context, address, name) {
  const browser = await open(context, address);
  await browser.evaluate(`(() => {
    const field = document.getElementById("name");
    field.value = "${name}";
    field.dispatchEvent(new Event("change"));
    document.getElementById("join").click();
  })()`);
  await browser.until(`airHockey.state.seat !== null && ${text("near-name")} === "${name}"`);
  return browser;
}

/** A finger on the screen of a phone, which moves the mallet of a seat. */
class Finger {
  #page;
  #seat;
  #box;

  static async put(page, seat, place) {
    const finger = new Finger();
    finger.#page = page;
    finger.#seat = seat;
    finger.#box = await page.evaluate(`(() => {
      const { left, top, width, height } = document.getElementById("table").getBoundingClientRect();
      return { left, top, width, height };
    })()`);
    await page.touch("touchStart", [finger.#pointOf(place)]);
    return finger;
  }

  /** Where the finger has to be for a place of the mallet. */
  #pointOf({ x, y }) {
    const { left, top, width, height } = this.#box;
    const behind = this.#seat === HOME ? -FINGER_OFFSET : FINGER_OFFSET;
    const [right, down] = new Placement(width, height, this.#seat).toScreen(x + behind, y);
    return [left + right, top + down];
  }

  move(place) { return this.#page.touch("touchMove", [this.#pointOf(place)]); }

  lift() { return this.#page.touch("touchEnd", []); }
}

const distance = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);

/** The point at a distance in front of a puck, on its way to the goal of away, or behind it. */
function ahead(puck, length) {
  const [x, y] = [TABLE.halfLength - puck.x, -puck.y], norm = Math.hypot(x, y);
  return { x: puck.x + (length * x) / norm, y: puck.y + (length * y) / norm };
}

/**
 * Shoots at the goal of away with a finger whenever the puck lies still in front of home, which it does
 * at each of home's serves, until a goal is seen.
 * @param {Browser} page The page of home.
 * @param {(before: {puck: {x: number, y: number}}) => Promise<void>} didShoot Called after each shot.
 */
async function score(page, didShoot) {
  const finger = await Finger.put(page, HOME, { x: -0.7, y: 0 });
  // Shots miss where the computer is so busy that the finger comes late.
  // After a shot that misses, the puck may lie with away, who loses it by the clock alone.
  const end = Date.now() + SCORING_LIMIT;
  let last = null;
  while (Date.now() < end) {
    const state = await page.evaluate("airHockey.state");
    if (state.score[HOME] > 0) return finger.lift();
    const { puck } = state, [mallet] = state.mallets;
    const lies = last !== null && distance(puck, last.puck) < 0.001 && state.tick > last.tick + 1;
    const isHit = state.phase === PHASES.playing
      || state.phase === PHASES.serve && state.phaseSeat === HOME;
    last = state;
    if (!lies || !isHit || puck.x > 0.001) {
      // Out of the way, so that the puck comes to rest or is served again.
      await finger.move({ x: -0.7, y: 0.3 });
    } else if (distance(mallet, ahead(puck, -0.25)) > 0.004) {
      await finger.move(ahead(puck, -0.25));
    } else {
      await finger.move(ahead(puck, 0.1));
      await didShoot(state);
      last = null;
    }
  }
  throw new Error("no goal");
}

test("two pages play with fingers: a goal, a reload, a frozen page, the death of the host", { skip },
  async (context) => {
    const host = startHost(context, "--players", "2");
    const address = await host.page();
    const leo = await join(context, address, "Leo"), zoe = await join(context, address, "Zoe");
    const pages = [leo, zoe];
    const play = (...conditions) => Promise.all(
      pages.map((page, seat) => page.until(conditions[seat] ?? conditions[0])));
    await play(`${text("far-name")} === "Zoe"`, `${text("far-name")} === "Leo"`);
    const { match } = await zoe.evaluate("airHockey.state");
    const isOne = [`${shown(".near")} === "1" && ${shown(".far")} === "0"`,
      `${shown(".near")} === "0" && ${shown(".far")} === "1"`];
    const goesOn = (seat, other) => `(({ seat, match, pauses, score }) => seat === ${seat}
      && match === ${match} && pauses === 0 && score.join() === "1,0")(globalThis.airHockey?.state ?? {})
      && ${text("far-name")} === "${other}" && ${isOne[seat]}`;
    const goOn = () => play(goesOn(HOME, "Zoe"), goesOn(AWAY, "Leo"));

    await context.test("a touch moves a mallet and the puck, and both see the goal", async () => {
      const corner = { x: 0.9, y: 0.4 };
      const finger = await Finger.put(zoe, AWAY, { x: 0.8, y: 0.3 });
      await finger.move(corner);
      await leo.until(`Math.hypot(airHockey.state.mallets[${AWAY}].x - 0.9,
        airHockey.state.mallets[${AWAY}].y - 0.4) < 0.01`);
      let shots = 0;
      await score(leo, async ({ puck }) => {
        shots += 1;
        await zoe.until(`airHockey.state.phase === ${PHASES.goalPause} || Math.hypot(
          airHockey.state.puck.x - ${puck.x}, airHockey.state.puck.y - ${puck.y}) > 0.1`);
      });
      assert.ok(shots > 0);
      await play(...isOne);
      await finger.lift();
    });

    await context.test("a page that is loaded again has its seat and score", async () => {
      await leo.reload();
      await goOn();
    });

    await context.test("pages that are frozen for ten seconds have their seats and score", async () => {
      const { tick } = await zoe.evaluate("airHockey.state");
      await leo.signalPages("SIGSTOP");
      await zoe.setFrozen(true);
      await new Promise((resume) => setTimeout(resume, 10000));
      await zoe.setFrozen(false);
      await leo.signalPages("SIGCONT");
      await goOn();
      await play(`airHockey.confirmed.tick > ${tick + 60}`);
      for (const page of pages) assert.equal((await page.evaluate("airHockey.state")).desyncs, 0);
    });

    await context.test("both pages say in words that the host is dead", async () => {
      host.process.kill("SIGKILL");
      await play(`${text("notice")} === "Connection lost. Reconnecting …"`);
      await play(`document.getElementById("message").open
        && ${text("message-title")} === "The match is over"
        && /^The (connection was lost|host cannot be reached)\\.$/.test(${text("message-text")})
        && ${text("proceed")} === "Join again"`);
    });
    assert.deepEqual([...leo.errors, ...zoe.errors], []);
  });

test("a page plays against a peer written from the WireFormat page", { skip }, async (context) => {
  const host = startHost(context, "--players", "2");
  const address = await host.page(), { hostname, port } = new URL(address);
  const page = await join(context, address, "Leo");
  const peer = spawn("python3", [
    "-B", "Tests/WireFormatTests/peer/air_hockey_peer.py", hostname, port, "--seconds", "4",
    "--name", "Python", "--transport", "udp",
  ], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => peer.kill("SIGKILL"));
  let output = "";
  peer.stdout.on("data", (bytes) => (output += bytes));
  const ended = new Promise((resolve) => peer.on("close", resolve));
  await page.until(`${text("far-name")} === "Python"`);
  const finger = await Finger.put(page, HOME, { x: -0.5, y: 0.1 });
  await finger.move({ x: -0.5, y: 0.2 });
  await ended;
  await finger.lift();
  const summary = JSON.parse(output.trim());
  assert.deepEqual(summary.violations, []);
  assert.equal(summary.seat, AWAY);
  assert.deepEqual(summary.names, ["Leo", "Python"]);
  assert.equal(summary.endReason, "finished");
  assert.equal(summary.pauses, 1);
  // The host sends a hash of its state, and both players compare each with their own.
  assert.ok(summary.hashes > 0);
  await until(() => host.count("Python has left: finished") === 1, 40, host.lines);
  assert.equal((await page.evaluate("airHockey.state")).desyncs, 0);
  assert.deepEqual(page.errors, []);
});

/** Replaces the byte at a distance from a text in what a page sends, which is a version there. */
const change = (text, offset) => `(() => {
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (bytes) {
    const copy = new Uint8Array(bytes), at = String.fromCharCode(...copy).indexOf("${text}");
    if (at >= 0) copy[at + ${offset}] = 99;
    send.call(this, copy);
  };
})()`;

test("a page of another version is told in a sentence", { skip }, async (context) => {
  const host = startHost(context, "--players", "2"), address = await host.page();
  // Those of the session and of the game stand in the request for a seat, behind and before a text.
  const scripts = [change("get srv", 7), change("airhockey", -3)];
  await Promise.all(scripts.map(async (script) => {
    const page = await open(context, address, script);
    await page.evaluate(`document.getElementById("join").click()`);
    await page.until(`document.getElementById("message").open`);
    assert.equal(await page.evaluate(text("message-title")), "Not joined");
    assert.equal(await page.evaluate(text("message-text")),
      "The host runs another version of the game. Reload this page from the host.");
    assert.deepEqual(page.errors, []);
  }));
  assert.equal(host.count("sits down"), 0);
});
