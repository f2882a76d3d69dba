// screenshots.mjs FOLDER: pictures of air hockey's page for the documentation: its title, a match, a pause
// and the end of a match, on a phone and on a desktop. A host on the loopback interface serves the page.

import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";

import { AWAY, HOME, PHASES, REQUESTS } from "../../Sources/WebPages/air-hockey.js";
import { Browser } from "./chromium.mjs";
import { startHost } from "./support.mjs";

const folder = process.argv[2] ?? "Sources/Carom/Carom.docc/Resources";
const screens = {
  phone: { width: 360, height: 640, isMobile: true },
  desktop: { width: 1024, height: 640 },
};
/** The most colors of a picture. */
const COLORS = 96;

if (spawnSync("pngquant", ["--version"]).error) {
  console.error("pngquant is missing, which makes pictures small: apt-get install pngquant");
  process.exit(1);
}
const ends = [];
const context = { after: (action) => ends.unshift(action) };
const text = (id) => `document.getElementById("${id}").textContent`;
const click = (id) => `document.getElementById("${id}").click()`;

async function open(address, screen) {
  const browser = await Browser.open(address, screen);
  context.after(() => browser.close());
  await browser.until(`document.getElementById("title").open`, 30);
  return browser;
}

/** Keeps a picture of a page under a name, with few colors, which makes it smaller by far. */
async function keep(browser, name) {
  const file = path.join(folder, `air-hockey-${name}.png`);
  writeFileSync(file, await browser.screenshot());
  execFileSync("pngquant", [
    "--force", "--skip-if-larger", "--strip", "--speed", "1", "--ext", ".png", `${COLORS}`, file,
  ]);
}

/** Plays as a person who follows the puck, and strikes when it is near. */
const play = (seat) => `(() => {
  const side = ${seat === AWAY ? 1 : -1};
  const follow = () => {
    const { puck, mallets } = airHockey.state, mallet = mallets[${seat}];
    const isNear = side * puck.x > 0.02 && side * puck.x < side * mallet.x;
    airHockey.setTarget(${seat}, isNear ? puck.x - side * 0.02 : side * 0.8, puck.y * (isNear ? 1 : 0.6));
    requestAnimationFrame(follow);
  };
  follow();
})()`;

/** Wins a match against the computer without waiting for the clock, which stands still after that. */
const win = `(() => {
  let time = performance.now();
  performance.now = () => time;
  while (true) {
    const { puck, mallets, phase, phaseSeat } = airHockey.state;
    if (phase === ${PHASES.matchEnd} && phaseSeat === ${HOME}) break;
    if (phase === ${PHASES.matchEnd}) airHockey.request(${HOME}, ${REQUESTS.startMatch});
    const isNear = puck.x < -0.05 && puck.x > mallets[${HOME}].x;
    airHockey.setTarget(${HOME}, isNear ? puck.x + 0.05 : -0.8, isNear ? puck.y : 0.6 * puck.y);
    time += 1000 / 60;
    airHockey.update();
  }
})()`;

async function take(address, kind) {
  const screen = screens[kind];
  const page = await open(address, screen);
  await page.evaluate(`(() => {
    const field = document.getElementById("name");
    field.value = "Leo";
    field.dispatchEvent(new Event("change"));
    document.activeElement.blur();
  })()`);
  await keep(page, `title-${kind}`);

  await page.evaluate(click("join"));
  await page.until(`${text("far-name")} === "Maya" && airHockey.state.seat !== null`, 30);
  const { seat } = await page.evaluate("airHockey.state");
  await page.evaluate(play(seat));
  // Somebody has scored, and the puck moves through the middle of the table.
  const isLively = `(({ phase, score, puck }) => phase === ${PHASES.playing}
    && score[0] + score[1] > 0 && Math.abs(puck.x) < 0.35 && Math.abs(puck.y) < 0.35)(airHockey.state)
    && document.getElementById("notice").hidden`;
  // A computer that is busy answers pings late, which looks like a bad link.
  await page.until(`${isLively} && ${text("quality")}.startsWith("good")`, 90)
    .catch(() => page.until(isLively, 90));
  await keep(page, `match-${kind}`);
  await page.evaluate(click("pause"));
  await page.until(`${text("message-title")} === "Paused" && document.getElementById("message").open`);
  await page.evaluate(`document.activeElement.blur()`);
  await keep(page, `pause-${kind}`);
  await page.evaluate(click("quit"));
  await page.close();

  // A match to its end takes minutes by the clock.
  const won = await open(address, screen);
  await won.evaluate(`(() => {
    document.querySelector("input[name=strength]").checked = true;
    ${click("solo")};
    ${win};
  })()`);
  await won.until(`${text("message-title")} === "You win!" && document.getElementById("message").open`);
  await won.evaluate(`document.activeElement.blur()`);
  await keep(won, `end-${kind}`);
  await won.close();
}

try {
  const address = await startHost(context).page();
  for (const kind of Object.keys(screens)) await take(address, kind);
} finally {
  for (const end of ends) await end();
}
