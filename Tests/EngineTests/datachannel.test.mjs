// Matches of pages whose messages travel over a WebRTC data channel to their host.

import assert from "node:assert/strict";
import test from "node:test";

import { LINKS } from "../../Sources/WebPages/air-hockey.js";
import { Browser, skip as skipBrowser } from "./chromium.mjs";
import {
  compare, makePage, readHashes, recordHashes, skipHost, startHost, startTLSHost,
} from "./support.mjs";

const skip = skipHost || skipBrowser;
const screen = { width: 800, height: 600 };

/** Keeps the data channels of a page, so that a test can close them. */
const keepChannels = `(() => {
  globalThis.channels = [];
  const { createDataChannel } = RTCPeerConnection.prototype;
  RTCPeerConnection.prototype.createDataChannel = function (...options) {
    channels.push(createDataChannel.apply(this, options));
    return channels.at(-1);
  };
})()`;

/** Keeps whether the match of a page was ever not played. */
const noteInterruptions = `(() => {
  globalThis.wasInterrupted = false;
  const note = () => {
    globalThis.wasInterrupted ||= airHockey.state.link !== ${LINKS.playing};
    requestAnimationFrame(note);
  };
  note();
})()`;

/** Opens the page of a host, and joins. */
async function join(context, address, name) {
  const browser = await Browser.open(address, screen, keepChannels);
  context.after(() => browser.close());
  await browser.until(`document.getElementById("title").open`);
  await browser.evaluate(`(() => {
    const field = document.getElementById("name");
    field.value = "${name}";
    field.dispatchEvent(new Event("change"));
    document.getElementById("join").click();
  })()`);
  await browser.until(`airHockey.state.link === ${LINKS.playing}`);
  return browser;
}

/** Waits until the messages of a page travel over a link of a kind. */
const uses = (page, transport) => page.until(`airHockey.transport === "${transport}"`, 5);

/** Waits until a page has played on for two seconds. */
async function playOn(page) {
  const { tick } = await page.evaluate("airHockey.state");
  await page.until(`airHockey.confirmed.tick > ${tick + 120}`);
  const { desyncs } = await page.evaluate("airHockey.state");
  assert.equal(desyncs, 0);
}

test("two pages play over data channels, in step with their host; one channel is closed", { skip },
  async (context) => {
    const recording = `${makePage(context)}/match`;
    const host = startHost(context, "--players", "2", "--record", recording);
    const address = await host.page();
    const leo = await join(context, address, "Leo"), zoe = await join(context, address, "Zoe");
    const pages = [leo, zoe];
    await Promise.all(pages.map((page) => uses(page, "webrtc")));
    await leo.until(`document.getElementById("quality").title === "WebRTC"`);
    await Promise.all(pages.map((page) => page.evaluate(recordHashes)));
    await Promise.all(pages.map((page) => page.evaluate(noteInterruptions)));
    await Promise.all(pages.map(playOn));

    // The WebSocket carries on.
    await leo.evaluate("channels[0].close()");
    await uses(leo, "websocket");
    await Promise.all(pages.map(playOn));
    assert.equal(await zoe.evaluate("airHockey.transport"), "webrtc");
    await leo.until(`document.getElementById("quality").title === "WebSocket"`);

    const seen = [];
    for (const page of pages) {
      assert.equal(await page.evaluate("wasInterrupted"), false);
      seen.push(await page.evaluate("hashes"));
      assert.deepEqual(page.errors, []);
    }
    host.process.kill("SIGTERM");
    await host.summary();
    const played = readHashes(recording);
    for (const hashes of seen) compare(hashes, played, 45);
  });

test("a page that is loaded again has its seat and a new data channel", { skip },
  async (context) => {
    const host = startHost(context, "--players", "2");
    const page = await join(context, await host.page(), "Leo");
    await uses(page, "webrtc");
    await page.reload();
    await page.until(`globalThis.airHockey?.state.link === ${LINKS.playing}`);
    await uses(page, "webrtc");
    assert.equal(await page.evaluate("airHockey.state.seat"), 0);
    await playOn(page);
    // The old page has said goodbye, although its data channel was open.
    assert.equal(host.count("Leo has left: left"), 1);
    assert.deepEqual(page.errors, []);
  });

test("a page that came over TLS plays over a data channel", { skip }, async (context) => {
  const host = startTLSHost(context, "--players", "2");
  const page = await join(context, await host.page(), "Leo");
  await uses(page, "webrtc");
  await playOn(page);
  assert.deepEqual(page.errors, []);
});
