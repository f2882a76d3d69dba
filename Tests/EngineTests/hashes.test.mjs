// The simulation has the same bits in Node and in a browser as in a native build.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test from "node:test";

import { Browser, servePage, skip as skipBrowser } from "./chromium.mjs";

const file = process.env.CAROM_HASHES ?? ".build-gate/webassembly-modules/hashes/hashes.wasm";
const skip = existsSync(file) ? false : "the program with the hashes is not built";

const read = (name) =>
  readFileSync(`Tests/Fixtures/${name}-hashes.txt`, "utf8").trim().split("\n");
/** Those of the fixed match, of the reference cases of the physics, and of a recorded match. */
const expected = ["match", "physics", "recorded-match"].flatMap(read);

/** Takes a number of hashes from the program. It runs in a page as well. */
async function takeHashes(base64, count) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const { instance } = await WebAssembly.instantiate(bytes, {});
  return Array.from(
    { length: count }, (_, index) => String(BigInt.asUintN(64, instance.exports.hash(index))));
}

test("Node has the hashes of a native build", { skip }, async () => {
  const found = await takeHashes(readFileSync(file).toString("base64"), expected.length);
  assert.deepEqual(found, expected);
});

test("a browser has the hashes of a native build, and so has the engine in it",
  { skip: skip || skipBrowser }, async (context) => {
    const { server, address } = await servePage();
    const browser = await Browser.open(address, { width: 360, height: 640 });
    context.after(async () => {
      await browser.close();
      server.closeAllConnections?.();
      server.close();
    });
    await browser.until(`document.getElementById("title").open`);
    const program = readFileSync(file).toString("base64");
    const found = await browser.evaluate(`(${takeHashes})("${program}", ${expected.length})`);
    assert.deepEqual(found, expected);

    const match = await browser.evaluate(`(async () => {
      const { AirHockey, PLAYERS } = await import("./air-hockey.js");
      let time = 1000;
      const engine = await AirHockey.load(fetch("air-hockey.wasm"), () => time);
      engine.start(PLAYERS.hard, PLAYERS.medium, 3n);
      time += 500 / 60;
      const hashes = [];
      for (let tick = 1; tick <= 6000; tick++) {
        time += 1000 / 60;
        engine.update();
        if (tick % 2000 === 0) hashes.push(String(engine.confirmed.hash));
      }
      return hashes;
    })()`);
    assert.deepEqual(match, read("match"));
  });
