// Matches of a page in a real browser with a host that serves it over TLS.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";

import { Browser, skip as skipBrowser } from "./chromium.mjs";
import { skipHost, startTLSHost, until } from "./support.mjs";

const hasOpenSSL = spawnSync("openssl", ["version"]).status === 0;
const skip = skipHost || skipBrowser || (hasOpenSSL ? false : "openssl is not installed");
const screen = { width: 1280, height: 800 };
const text = (id) => `document.getElementById("${id}").textContent`;
const isPlaying = `${text("far-name")} === "Maya" && !document.getElementById("score").hidden`;

async function open(context, address) {
  const browser = await Browser.open(address, screen);
  context.after(() => browser.close());
  return browser;
}

test("a page over TLS joins a host that encrypts", { skip }, async (context) => {
  const host = startTLSHost(context, "--seconds", "5");
  const address = await host.page();
  assert.match(address, /^https:/);
  const browser = await open(context, `${address}#join`);
  await browser.until(isPlaying);
  await browser.until(`${text("message-title")} === "The match is over"`);
  const summary = await host.summary();
  assert.equal(summary.transport, "webrtc");
  assert.equal(summary.security, "anyone");
  assert.equal(summary.desyncs, 0);
  assert.deepEqual(browser.errors, []);
});

test("a page finds the join code in its address, and keeps it", { skip }, async (context) => {
  const host = startTLSHost(context, "--code", "K7QM-2XRT");
  const address = await host.page();
  assert.ok(address.endsWith("/#code=K7QM-2XRT"), address);
  const browser = await open(context, `${address}&join`);
  await browser.until(isPlaying);
  // The code is in the address no more.
  assert.equal(await browser.evaluate("location.hash"), "#join");
  await browser.reload();
  await until(() => host.count("sits down") === 2, 20, host.lines);
  await browser.until(isPlaying);
  const other = await open(context, address.replace(/#.*/, "#join"));
  // Whoever shows no code has not guessed, and makes nobody wait.
  const isRefused = `document.getElementById("message").open
    && ${text("message-text")}.startsWith("The host needs its join code.")`;
  await other.until(isRefused);
  for (let attempt = 0; attempt < 4; attempt++) {
    await other.evaluate(`document.getElementById("proceed").click()`);
    await other.until(isRefused);
  }
  // The same page reads the code when its address gets one; the seat is taken, however.
  await other.evaluate(`location.hash = "#code=K7QM-2XRT&join"`);
  await other.until(`${text("message-text")}.startsWith("The table is full.")`);
  assert.equal(host.count("wrong code"), 0);
  assert.ok(await browser.evaluate(isPlaying));
  assert.deepEqual([...browser.errors, ...other.errors], []);
});
