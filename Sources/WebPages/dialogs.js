// What the page says: the score, notices, the title and the messages with buttons.

import { AWAY, HOME, LINKS } from "./air-hockey.js";

/** The names of the links that carry a match. */
const TRANSPORTS = Object.freeze({ websocket: "WebSocket", webrtc: "WebRTC" });

/** The round-trip times in milliseconds up to which a link is good and fair. */
const GOOD = 60;
const FAIR = 150;

const element = (id) => document.getElementById(id);

/** Sets a text only where it changes, so that screen readers do not repeat it in each frame. */
function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** The dialogs and the texts around the table. */
export class Dialogs {
  #title = element("title");
  #message = element("message");
  #onProceed = () => {};
  #tableName = "";

  /** @param {object} page What the buttons call. */
  constructor(page) {
    this.#prepareNames();
    const hasHost = location.protocol === "http:" || location.protocol === "https:";
    for (const id of ["join", "name-label"]) element(id).hidden = !hasHost;
    element("join").addEventListener("click", () => page.join());
    element("solo").addEventListener("click", () => page.playComputer(this.#strength));
    element("shared").addEventListener("click", () => page.playTogether());
    element("proceed").addEventListener("click", () => this.#onProceed());
    element("quit").addEventListener("click", () => page.goBack());
    element("title").querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (hasHost) page.join();
    });
    for (const dialog of [this.#title, this.#message]) {
      dialog.addEventListener("cancel", (event) => event.preventDefault());
    }
  }

  /** The name can be typed in the title and in the lobby. */
  #prepareNames() {
    const names = [element("name"), element("lobby-name")];
    let known = "";
    try {
      known = localStorage.getItem("carom.name") ?? "";
    } catch {
      // Without storage, the name is typed again.
    }
    for (const name of names) {
      name.value = known;
      name.addEventListener("change", () => {
        for (const other of names) other.value = name.value;
        try {
          localStorage.setItem("carom.name", name.value);
        } catch {
          // See above.
        }
      });
    }
  }

  /** The name that the player has typed, or a plain one. */
  get playerName() { return element("name").value.trim() || "Browser"; }

  get #strength() {
    return Number(this.#title.querySelector("input[name=strength]:checked")?.value ?? 2);
  }

  /** Whether the message says that this player has paused the match. */
  get isPauseShown() {
    return this.#message.open && element("message-title").textContent === "Paused";
  }

  /** Shows the title. */
  showTitle() {
    this.close();
    this.#title.showModal();
  }

  /**
   * Says where this page is, and where the buttons lead that leave a match.
   * @param {boolean} hasLobby Whether they lead to the tables of the host.
   * @param {?import("./lobby.js").Place} place The place at one of several tables, if there are. A
   *   match that is only watched cannot be paused.
   */
  showPlace(hasLobby, place) {
    this.#tableName = place ? `Table ${place.table}, ` : "";
    const isWatching = place?.watches === true;
    setText(element("quit"), hasLobby ? "Back to the tables" : "Back to the start");
    setText(element("pause"), isWatching ? "✕" : "❚❚");
    element("pause").setAttribute("aria-label", isWatching ? "Stop watching" : "Pause the match");
  }

  /** Closes everything that lies above the table. */
  close() {
    this.#title.close();
    this.closeMessage();
    this.showNotice("");
  }

  /**
   * Shows a message with a button.
   * @param {string} title
   * @param {string} text
   * @param {string} proceed What the button says.
   * @param {() => void} onProceed What the button does.
   */
  showMessage(title, text, proceed, onProceed) {
    this.#onProceed = onProceed;
    setText(element("message-title"), title);
    setText(element("message-text"), text);
    setText(element("proceed"), proceed);
    this.showNotice("");
    if (!this.#message.open) {
      this.#message.showModal();
      this.announce(`${title}. ${text}`);
    }
  }

  /** Closes the message, if one is shown. */
  closeMessage() { if (this.#message.open) this.#message.close(); }

  /**
   * Shows a few words above the table; none hide them.
   * @param {string} text
   */
  showNotice(text) {
    const notice = element("notice");
    if (notice.hidden === (text === "") && notice.textContent === text) return;
    notice.hidden = text === "";
    setText(notice, text);
    if (text !== "") this.closeMessage();
  }

  /**
   * Says something to those who hear the page rather than see it.
   * @param {string} text
   */
  announce(text) { setText(element("announcements"), text); }

  /** Announces a goal with the score. */
  announceGoal(side, state) {
    this.announce(`Goal for ${side}. ${state.score[HOME]} to ${state.score[AWAY]}.`);
  }

  /**
   * Shows names, score and link.
   * @param {import("./air-hockey.js").State} state
   * @param {string[]} names Home's and away's.
   * @param {number} near The seat at the bottom or on the left.
   * @param {string} mode
   */
  showScore(state, names, near, mode) {
    const isPlayed = mode !== "demonstration", far = 1 - near, score = element("score");
    score.hidden = !isPlayed;
    element("pause").hidden = !isPlayed;
    score.classList.toggle("swapped", near === AWAY);
    setText(score.querySelector(".near"), String(state.score[near]));
    setText(score.querySelector(".far"), String(state.score[far]));
    const label = `Score: ${names[near] || "you"} ${state.score[near]}, `
      + `${names[far] || "opponent"} ${state.score[far]}`;
    if (score.getAttribute("aria-label") !== label) score.setAttribute("aria-label", label);
    setText(element("near-name"), names[near]);
    setText(element("far-name"), names[far]);
    this.#showQuality(state);
  }

  #showQuality(state) {
    const quality = element("quality");
    quality.hidden = state.link !== LINKS.playing || state.roundTrip === null;
    if (quality.hidden) return;
    const milliseconds = Math.round(state.roundTrip);
    const word = milliseconds <= GOOD ? "good" : milliseconds <= FAIR ? "fair" : "slow";
    setText(quality, `${this.#tableName}${word}, ${milliseconds}\u00a0ms`);
    const title = TRANSPORTS[state.transport] ?? "";
    if (quality.title !== title) quality.title = title;
  }
}
