// A headless Chromium, driven through its debugging pipe: JSON messages that end with a 0 byte.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

import { skip as skipNetwork } from "./namespace.mjs";
import { engineFile } from "./support.mjs";

const program = "/usr/bin/chromium";

/** Whether the tests of the page are skipped, and why. */
export const skip = skipNetwork || (existsSync(program) ? false : "chromium is not installed");

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

/** Serves the page on the loopback interface, as any web server would. */
export async function servePage() {
  const server = http.createServer(async (request, response) => {
    const name = path.basename(new URL(request.url, "http://page").pathname) || "index.html";
    const file = name.endsWith(".wasm") ? engineFile : `Sources/WebPages/${name}`;
    try {
      const body = await readFile(file);
      response.writeHead(200, { "Content-Type": TYPES[path.extname(name)] ?? "text/plain" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}

/** A page in a browser of its own. */
export class Browser {
  #folder = mkdtempSync(path.join(tmpdir(), "carom-page-"));
  #process;
  #answers = new Map();
  #next = 1;
  #session;
  #ended;
  /** What the page has reported as errors. */
  errors = [];

  /** @param {string} [script] Runs in the page before its own scripts. */
  static async open(address, { width, height, isMobile = false }, script = "") {
    const browser = new Browser();
    const { targetInfos } = await browser.#send("Target.getTargets");
    const { targetId } = targetInfos.find(({ type }) => type === "page");
    const target = { targetId, flatten: true };
    browser.#session = (await browser.#send("Target.attachToTarget", target)).sessionId;
    await browser.#send("Runtime.enable");
    await browser.#send("Emulation.setDeviceMetricsOverride", {
      width, height, deviceScaleFactor: isMobile ? 2 : 1, mobile: isMobile,
    });
    if (isMobile) await browser.#send("Emulation.setTouchEmulationEnabled", { enabled: true });
    if (script) {
      await browser.#send("Page.enable");
      await browser.#send("Page.addScriptToEvaluateOnNewDocument", { source: script });
    }
    await browser.#send("Page.navigate", { url: address });
    return browser;
  }

  constructor() {
    this.#process = spawn(program, [
      "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--remote-debugging-pipe",
      // Tests have certificates that nobody else knows.
      "--ignore-certificate-errors",
      // Data channels use the loopback interface, the only one there is, and its addresses: names in
      // their place would be asked for by multicast.
      "--allow-loopback-in-peer-connection",
      "--disable-features=WebRtcHideLocalIpsWithMdns",
      `--user-data-dir=${this.#folder}`, "about:blank",
    ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.#ended = new Promise((resolve) => this.#process.on("close", resolve));
    let rest = "";
    this.#process.stdio[4].setEncoding("utf8").on("data", (text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop();
      for (const message of messages) this.#receive(JSON.parse(message));
    });
  }

  #receive({ id, result, error, method, params }) {
    if (method === "Runtime.exceptionThrown") {
      this.errors.push(params.exceptionDetails.exception?.description);
    }
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    if (error) answer?.reject(new Error(error.message)); else answer?.resolve(result);
  }

  #send(method, params = {}, sessionId = this.#session) {
    const id = this.#next++;
    this.#process.stdio[3].write(JSON.stringify({ id, method, params, sessionId: sessionId ?? undefined }) + "\0");
    return new Promise((resolve, reject) => this.#answers.set(id, { resolve, reject }));
  }

  /** Returns the value of an expression in the page, which may be a promise. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.#send("Runtime.evaluate", {
      expression, awaitPromise: true, returnByValue: true, userGesture: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description);
    return result.value;
  }

  /**
   * Waits until an expression in the page is true. Rejected after a number of seconds, by default
   * enough for a computer that is busy.
   */
  async until(expression, seconds = 60) {
    const end = Date.now() + 1000 * seconds;
    while (!(await this.evaluate(`Boolean(${expression})`).catch(() => false))) {
      if (Date.now() > end) throw new Error(`not within ${seconds} s: ${expression}`);
      await new Promise((resume) => setTimeout(resume, 20));
    }
  }

  /** Loads the page again, as the button of the browser does. */
  reload() { return this.#send("Page.reload"); }

  /** Puts fingers on the screen, moves them or takes them away, as a person does. */
  touch(type, points) {
    const touchPoints = points.map(([x, y], id) => ({ x, y, id }));
    return this.#send("Input.dispatchTouchEvent", { type, touchPoints });
  }

  /** The screen as a PNG file. */
  async screenshot() {
    const { data } = await this.#send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }

  /** Hides and freezes the page, as a phone does while another program is in front, or shows it. */
  async setFrozen(isFrozen) {
    const { windowId } = await this.#send("Browser.getWindowForTarget");
    const show = (windowState) =>
      this.#send("Browser.setWindowBounds", { windowId, bounds: { windowState } });
    if (isFrozen) await show("minimized");
    await this.#send("Page.setWebLifecycleState", { state: isFrozen ? "frozen" : "active" });
    if (!isFrozen) await show("normal");
  }

  /** Sends a signal to the processes that run pages. */
  async signalPages(signal) {
    const { processInfo } = await this.#send("SystemInfo.getProcessInfo", {}, null);
    for (const { type, id } of processInfo) if (type === "renderer") process.kill(id, signal);
  }

  /** Presses and releases a key. */
  async press(code, key) {
    for (const type of ["keyDown", "keyUp"]) {
      await this.#send("Input.dispatchKeyEvent", { type, code, key });
    }
  }

  /** Ends the browser, and removes its files once none of its processes writes any more. */
  async close() {
    // A browser that is killed leaves processes behind, which still write to the folder.
    const hung = setTimeout(() => this.#process.kill("SIGKILL"), 10000);
    this.#session = undefined;
    this.#send("Browser.close").catch(() => {});
    await this.#ended;
    clearTimeout(hung);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
