// latency.mjs [SECONDS] [LOSS]: how old the host's ticks are when a page has them, over a data channel and
// over a WebSocket, on a path with 25 ms and a LOSS (5) of that many percent in each direction. As root,
// with CAROM_HOST, the air-hockey program, and CAROM_PAGE, the folder with its page (make wasm).

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";

import { Browser, skip } from "./chromium.mjs";
import { until } from "./support.mjs";

const [seconds = "60", loss = "5"] = process.argv.slice(2);
const DELAY = 25;
const HOST = "10.77.0.1";
const page = process.env.CAROM_PAGE ?? ".build/page";
const program = process.env.CAROM_HOST ?? ".build/release/air-hockey";
if (skip) throw new Error(skip);

const started = [];
const start = (name, ...options) => {
  const process = spawn(name, options, { stdio: ["ignore", "pipe", "inherit"] });
  started.push(process);
  return process;
};
const ip = (...options) => execFileSync("ip", options);

/** Makes a network namespace for the host, and the path that leads there from this one. */
async function makePath() {
  const holder = start("unshare", "--net", "sleep", "infinity");
  const inside = (...words) => execFileSync("nsenter", ["-t", `${holder.pid}`, "-n", ...words]);
  const own = execFileSync("readlink", ["/proc/self/ns/net"], { encoding: "utf8" });
  const entered = () => execFileSync("readlink", [`/proc/${holder.pid}/ns/net`], { encoding: "utf8" });
  await until(() => entered() !== own, 5, "a namespace");
  ip("link", "add", "near", "type", "veth", "peer", "name", "page");
  ip("link", "add", "far", "type", "veth", "peer", "name", "host", "netns", `${holder.pid}`);
  ip("addr", "add", "10.77.0.2/24", "dev", "page");
  for (const name of ["near", "page", "far"]) ip("link", "set", name, "up");
  inside("ip", "link", "set", "lo", "up");
  inside("ip", "addr", "add", `${HOST}/24`, "dev", "host");
  inside("ip", "link", "set", "host", "up");
  const relay = start("python3", "Tests/Lab/relay.py", "near", "far", `${DELAY}`, "0", "0", loss);
  await once(relay.stdout, "data");
  return (...words) => start("nsenter", "-t", `${holder.pid}`, "-n", ...words);
}

/** Plays on a link, and returns the ages of the host's ticks in milliseconds, in order. */
async function measure(inside, link) {
  const host = inside(program, "host", "--headless", "--browser", "--security", "none", "--page", page,
    "--interface", "host", "--port", "7777", "--name", "Table");
  const script = link === "websocket" ? "delete globalThis.RTCPeerConnection" : "";
  const answers = () => fetch(`http://${HOST}:7777/`).then(() => true, () => false);
  while (!(await answers())) await new Promise((resume) => setTimeout(resume, 100));
  const browser = await Browser.open(
    `http://${HOST}:7777/#join`, { width: 360, height: 640, isMobile: true }, script);
  try {
    await browser.until(`globalThis.airHockey?.state.transport === "${link}"`);
    const ages = JSON.parse(await browser.evaluate(`new Promise((resolve) => {
      const ages = [], end = performance.now() + 1000 * ${seconds};
      let last = Number(airHockey.confirmed.tick);
      const timer = setInterval(() => {
        const now = performance.now(), tick = Number(airHockey.confirmed.tick);
        while (last < tick) ages.push(now - (++last * 1000) / 60);
        if (now < end) return;
        clearInterval(timer);
        resolve(JSON.stringify(ages));
      }, 2);
    })`)).sort((one, other) => one - other);
    // The clocks differ by a constant. The earliest tick was as fast as the path allows.
    return ages.map((age) => age - ages[0] + DELAY);
  } finally {
    await browser.close();
    host.kill();
    await once(host, "exit");
  }
}

try {
  const inside = await makePath();
  const worst = {};
  for (const link of ["webrtc", "websocket"]) {
    const ages = await measure(inside, link);
    const percentile = (part) => ages[Math.min(ages.length - 1, Math.floor(part * ages.length))];
    worst[link] = percentile(0.99);
    console.log(`${link}: ${ages.length} ticks, p50 ${percentile(0.5).toFixed(1)} ms, `
      + `p99 ${worst[link].toFixed(1)} ms`);
  }
  console.log(`p99 of the data channel by the WebSocket's: ${(worst.webrtc / worst.websocket).toFixed(2)}`);
} finally {
  for (const process of started) process.kill();
}
