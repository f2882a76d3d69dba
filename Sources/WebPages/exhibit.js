// The host of an exhibit, which runs for weeks and is started again after it has ended: its pages come
// back by themselves.

import { END_CODES } from "./air-hockey.js";

/** The time between two questions whether the host is there, in milliseconds. */
const INTERVAL = 3000;

/** The ends of a connection after which a page does not come back by itself. */
const FINAL = [
  END_CODES.closed, END_CODES.replaced, END_CODES.full, END_CODES.declined, END_CODES.notAllowed,
];

/** What a page knows about the host that has served it. */
export class Exhibit {
  #isExhibit = false;
  #timer = null;

  /** Finds out whether the host is that of an exhibit. It then answers monitors. */
  async find() { this.#isExhibit ||= await answers(); }

  /** Whether the page comes back by itself. */
  get isWaiting() { return this.#timer !== null; }

  /**
   * After the end of a connection to an exhibit, waits until the host answers, and calls `comeBack`.
   * @param {number} code The code of the end.
   * @param {() => void} comeBack
   */
  wait(code, comeBack) {
    this.stop();
    if (!this.#isExhibit || FINAL.includes(code)) return;
    const timer = setInterval(async () => {
      if (await answers() && this.#timer === timer) {
        this.stop();
        comeBack();
      }
    }, INTERVAL);
    this.#timer = timer;
  }

  /** Ends the wait. */
  stop() {
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** Whether the host answers monitors, be it well or late. */
async function answers() {
  try {
    const response = await fetch("health", { cache: "no-store" });
    // The connection is free again once everything has been read.
    await response.text();
    return response.status === 200 || response.status === 503;
  } catch {
    return false;
  }
}
