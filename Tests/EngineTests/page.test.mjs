// The page in a real browser.

import assert from "node:assert/strict";
import test from "node:test";

import { Browser, servePage, skip } from "./chromium.mjs";

const phone = { width: 360, height: 640, isMobile: true };
const title = `document.getElementById("title").open`;
const click = (id) => `document.getElementById("${id}").click()`;
const text = (id) => `document.getElementById("${id}").textContent`;

/** Opens the page, and waits for its title. */
async function open(context, screen) {
  const { server, address } = await servePage();
  const browser = await Browser.open(address, screen);
  context.after(async () => {
    await browser.close();
    server.closeAllConnections?.();
    server.close();
  });
  await browser.until(title);
  return browser;
}

/** The color of the table at a point of the page, as red, green and blue. */
const colorAt = (x, y) => `(() => {
  const canvas = document.getElementById("table"), box = canvas.getBoundingClientRect();
  const ratio = canvas.width / box.width;
  const [x, y] = [(${x} - box.left) * ratio, (${y} - box.top) * ratio];
  return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3)];
})()`;

test("two fingers move the mallets of two players", { skip }, async (context) => {
  const browser = await open(context, phone);
  await browser.evaluate(click("shared"));
  const fingers = [[120, 470], [230, 210]];
  await browser.touch("touchStart", fingers.map(([x, y]) => [x, y < 320 ? y - 10 : y + 10]));
  await browser.touch("touchMove", fingers);
  // A mallet is six centimeters in front of its finger: about 17 pixels. Its rim is not dark.
  const isBlue = ([red, , blue]) => blue > 200 && red < 120;
  const isRed = ([red, , blue]) => red > 200 && blue < 140;
  const colors = () => Promise.all([
    browser.evaluate(colorAt(120 - 10, 470 - 17)), browser.evaluate(colorAt(230 + 10, 210 + 17)),
  ]);
  const end = Date.now() + 5000;
  let found = await colors();
  while (!(isBlue(found[0]) && isRed(found[1])) && Date.now() < end) found = await colors();
  assert.ok(isBlue(found[0]), `home's mallet: ${found[0]}`);
  assert.ok(isRed(found[1]), `away's mallet: ${found[1]}`);
  assert.deepEqual(browser.errors, []);
});

test("a match is paused, continued and left with keys and buttons", { skip }, async (context) => {
  const browser = await open(context, { width: 1280, height: 800 });
  await browser.evaluate(click("solo"));
  await browser.until(`!document.getElementById("score").hidden`);
  assert.equal(await browser.evaluate(text("far-name")), "Computer");
  await browser.press("KeyP", "p");
  await browser.until(`${text("message-title")} === "Paused"`);
  await browser.evaluate(click("proceed"));
  await browser.until(`!document.getElementById("message").open`);
  await browser.evaluate(click("pause"));
  await browser.until(`document.getElementById("message").open`);
  await browser.evaluate(click("quit"));
  await browser.until(title);
  assert.deepEqual(browser.errors, []);
});

test("the table fits every screen, and each button is large enough", { skip }, async (context) => {
  for (const screen of [phone, { width: 740, height: 360, isMobile: true }]) {
    const browser = await open(context, screen);
    const boxes = await browser.evaluate(`[...document.querySelectorAll("button, #table")]
      .map((each) => each.getBoundingClientRect()).filter(({ width }) => width > 0)
      .map(({ left, top, right, bottom }) => [left, top, right, bottom])`);
    assert.ok(boxes.length >= 4);
    for (const [left, top, right, bottom] of boxes) {
      assert.ok(left >= 0 && top >= 0 && right <= screen.width && bottom <= screen.height);
      assert.ok(right - left >= 38 && bottom - top >= 38, `${right - left} x ${bottom - top}`);
    }
    await browser.close();
  }
});

test("a host that cannot be reached is told in a sentence", { skip }, async (context) => {
  const browser = await open(context, phone);
  await browser.evaluate(click("join"));
  await browser.until(`${text("message-text")} === "The host cannot be reached."`);
  assert.equal(await browser.evaluate("location.hash"), "#join");
  await browser.evaluate(click("quit"));
  assert.equal(await browser.evaluate("location.hash"), "");
});
