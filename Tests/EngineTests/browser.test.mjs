// Matches of a page in a real browser, which comes from the host that it plays against.

import assert from "node:assert/strict";
import test from "node:test";

import { Browser, skip as skipBrowser } from "./chromium.mjs";
import { skipHost, startHost, until } from "./support.mjs";

const skip = skipHost || skipBrowser;
const screen = { width: 1280, height: 800 };
const text = (id) => `document.getElementById("${id}").textContent`;
const isPlaying = `${text("far-name")} === "Maya" && !document.getElementById("score").hidden`;

/** Opens the page of a host, and joins. */
async function join(context, host) {
  const browser = await Browser.open(`${await host.page()}#join`, screen);
  context.after(() => browser.close());
  await browser.until(isPlaying);
  return browser;
}

test("a page plays against the host that serves it, to its end", { skip }, async (context) => {
  const host = startHost(context, "--seconds", "5");
  const browser = await join(context, host);
  await browser.until(`${text("message-title")} === "The match is over"`);
  const summary = await host.summary();
  assert.equal(summary.transport, "webrtc");
  assert.equal(summary.security, "none");
  assert.equal(summary.desyncs, 0);
  assert.ok(summary.ticks >= 300);
  const [home, away] = summary.score.split("-");
  const message = await browser.evaluate(text("message-text"));
  assert.ok(message.endsWith(`The final score is ${away} to ${home}.`), message);
  assert.deepEqual(browser.errors, []);
});

test("a page that is loaded again has its seat, and a second page has none", { skip },
  async (context) => {
    const host = startHost(context);
    const browser = await join(context, host);
    await until(() => host.count("sits down") === 1, 5, host.lines);
    await browser.reload();
    await until(() => host.count("sits down") === 2, 20, host.lines);
    await browser.until(isPlaying);
    const second = await Browser.open(`${await host.page()}#join`, screen);
    context.after(() => second.close());
    await second.until(`${text("message-text")}.startsWith("The table is full.")`);
    assert.ok(await browser.evaluate(isPlaying));
    assert.deepEqual([...browser.errors, ...second.errors], []);
  });

test("a page of another site cannot join", { skip }, async (context) => {
  const host = startHost(context);
  const browser = await Browser.open("data:text/html,<title>elsewhere</title>", screen);
  context.after(() => browser.close());
  const address = `ws://127.0.0.1:${await host.port()}/carom`;
  const result = await browser.evaluate(`new Promise((resolve) => {
    const socket = new WebSocket("${address}", "carom");
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
  })`);
  assert.equal(result, "refused");
});

test("a host serves the files of the page and nothing else", { skip: skipHost },
  async (context) => {
    const host = startHost(context);
    const page = await host.page();
    const types = {
      "": "text/html", "index.html": "text/html", "carom.js": "text/javascript",
      "air-hockey.wasm": "application/wasm",
    };
    for (const [name, type] of Object.entries(types)) {
      const answer = await fetch(page + name);
      assert.equal(answer.status, 200, name);
      assert.ok(answer.headers.get("Content-Type").startsWith(type), name);
      assert.ok((await answer.arrayBuffer()).byteLength > 1000);
    }
    for (const name of ["package.json", "none.js", "..%2fpackage.json"]) {
      assert.equal((await fetch(page + name)).status, 404, name);
    }
  });
