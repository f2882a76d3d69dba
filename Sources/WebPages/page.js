// The page: which match is played, what is said about it, and the loop that draws it.

import {
  AirHockey, AWAY, END_CODES, END_REASONS, EVENTS, GAME_EVENTS, HOME, LINKS, PHASES, PLAYERS, REQUESTS,
  TOUCHES,
} from "./air-hockey.js";
import { joinCode, openLink, ownHost, playerID } from "./carom.js";
import { Controls } from "./controls.js";
import { Dialogs } from "./dialogs.js";
import { Exhibit } from "./exhibit.js";
import { chooseTable, fetchTables, fragmentOf, Lobby, placeIn } from "./lobby.js";
import { Sound } from "./sound.js";
import { Table } from "./table.js";

/** The fragment of the page's address in a match on the network, which survives a reload. A host with
 * several tables has one for each of them. */
const JOINED = "#join";

/** How often a page looks for another free table, because somebody else has taken its seat. */
const FREE_ATTEMPTS = 3;

/** For how long a page says who plays now, in milliseconds. */
const CHANGE_TIME = 4000;

const CODE_NEEDED =
  "The host needs its join code. Open the whole address that the host shows, or scan its QR code.";

class Page {
  #engine;
  #table = new Table(document.getElementById("table"));
  #controls = new Controls(document.getElementById("table"), this.#table);
  #sound = new Sound();
  #dialogs = new Dialogs(this);
  #exhibit = new Exhibit();
  /** One of "demonstration", "solo", "shared" and "network". */
  #mode = "demonstration";
  #names = ["", ""];
  /** The seat at the bottom or on the left: this player's, if only one plays at this page. */
  #near = HOME;
  /** The name of the last opponent in this match on the network. */
  #opponent = "";
  /** What is said about who plays now, and until when; null if nothing is. */
  #change = null;
  #endCode = null;
  #finalScore = null;
  #wakeLock = null;
  /** The join code of the host, from the address of the page; null if there is none. */
  #code = null;
  /** The lobby of a host with several tables; null at any other. */
  #lobby = null;
  /** The place at one of several tables; null without a table's number. */
  #place = null;
  #freeAttempts = 0;

  /**
   * @param {AirHockey} engine
   * @param {?import("./lobby.js").TableEntry[]} tables Those of a host with several.
   */
  constructor(engine, tables) {
    this.#engine = engine;
    if (tables) this.#lobby = new Lobby(this, tables);
    addEventListener("resize", () => this.#table.fit());
    addEventListener("pagehide", () => this.#engine.leave());
    addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("visibilitychange", () => this.#visibilityChanged());
    document.getElementById("pause").addEventListener("click", () => this.pause());
    this.#prepareMute();
    addEventListener("hashchange", () => this.#open());
    this.#open();
    requestAnimationFrame((now) => this.#frame(now));
  }

  /** Goes where the address of the page leads. */
  #open() {
    this.#code = joinCode();
    const place = placeIn(location.hash);
    if (place) return this.join(place);
    if (new URLSearchParams(location.hash.slice(1)).has("join")) return this.join();
    this.goBack();
  }

  // What the dialogs ask for.

  /** Leaves the match: for the lobby, if the host has one, otherwise for the title. */
  goBack() { if (this.#lobby) this.#showLobby(); else this.showTitle(); }

  /** Shows the title above a match of two computer players. */
  showTitle() {
    this.#demonstrate();
    this.#dialogs.showTitle();
  }

  /** Shows the tables of the host, above the same match. */
  #showLobby(note) {
    this.#demonstrate();
    this.#lobby.show(note);
  }

  #demonstrate() {
    history.replaceState(null, "", location.pathname + location.search);
    this.#place = null;
    this.#begin("demonstration", [], ["", ""], HOME);
    this.#engine.start(PLAYERS.medium, PLAYERS.hard);
  }

  /** @param {number} strength One of `PLAYERS`. */
  playComputer(strength) {
    this.#begin("solo", [HOME], ["You", "Computer"], HOME);
    this.#engine.start(PLAYERS.person, strength);
  }

  /** Two people play on this screen. */
  playTogether() {
    this.#begin("shared", [HOME, AWAY], ["Blue", "Red"], HOME);
    this.#engine.start(PLAYERS.person, PLAYERS.person);
  }

  /**
   * Joins the match of the host from which the page comes.
   * @param {?import("./lobby.js").Place} [place] At which of several tables; without one, the lobby
   *   of such a host is shown.
   */
  join(place = null) {
    this.#freeAttempts = 0;
    if (this.#lobby && !place) return this.#showLobby();
    history.replaceState(null, "", place ? fragmentOf(place) : JOINED);
    this.#place = place;
    const name = this.#dialogs.playerName;
    // The host gives the seat, at most tables away's.
    if (this.#isWatching) this.#begin("network", [], ["", ""], HOME);
    else this.#begin("network", [AWAY], ["", name], AWAY);
    this.#engine.join(
      () => openLink(ownHost(), this.#code), playerID(), name, () => this.#update(), place ?? {});
    this.#exhibit.find();
  }

  /**
   * Joins the fullest table with a free seat.
   * @param {number} [attempts] How often to try, if somebody else takes the seat in the meantime.
   */
  async playFree(attempts = FREE_ATTEMPTS) {
    const tables = await fetchTables();
    const table = tables && chooseTable(tables);
    if (!table) return this.#showLobby(tables ? "All tables are full." : "");
    this.join({ table, watches: false });
    this.#freeAttempts = attempts - 1;
  }

  /**
   * Pauses the match; in a match over the network, for the opponent as well. Leaves a match whose
   * host does not answer, and one that is only watched.
   */
  pause() {
    if (this.#mode === "demonstration") return;
    const { link } = this.#engine.state;
    const isPlayed = link === LINKS.none || link === LINKS.playing;
    if (isPlayed && !this.#isWatching) return this.#request(REQUESTS.pause);
    this.goBack();
  }

  /** Ends this player's pause. */
  resume() { this.#request(REQUESTS.resume); }

  /** Begins the next match after the end of one. */
  playAgain() { this.#request(REQUESTS.startMatch); }

  #request(request) {
    this.#engine.request(this.#near, request);
  }

  #begin(mode, seats, names, near) {
    this.#mode = mode;
    this.#names = names;
    this.#opponent = "";
    this.#change = null;
    this.#endCode = null;
    this.#finalScore = null;
    this.#exhibit.stop();
    this.#sit(seats, near);
    this.#lobby?.close();
    this.#dialogs.close();
    this.#dialogs.showPlace(this.#lobby !== null, this.#place);
    this.#keepAwake(mode !== "demonstration");
  }

  /** Whether this page looks for another free table, because it was not let in at one. */
  get #isRetrying() { return this.#freeAttempts > 0 && this.#endCode === END_CODES.declined; }

  /** Whether this page watches the match of others. */
  get #isWatching() { return this.#place?.watches === true; }

  /** Gives the people at this page their seats. */
  #sit(seats, near) {
    this.#near = near;
    this.#controls.reset(seats);
    this.#table.setNear(near);
  }

  // The loop.

  #frame(now) {
    const state = this.#engine.state;
    this.#controls.apply(this.#engine, state, now);
    this.#update();
    const shown = this.#engine.state;
    const { seat } = shown;
    if (this.#mode === "network" && seat !== null && seat !== this.#near) this.#sit([seat], seat);
    this.#table.paint(shown, now);
    this.#describe(shown);
    requestAnimationFrame((next) => this.#frame(next));
  }

  #update() {
    for (const event of this.#engine.update()) this.#handle(event);
  }

  #handle(event) {
    const isPlayed = this.#mode !== "demonstration";
    if (isPlayed) this.#sound.play(event);
    switch (event.code) {
      case GAME_EVENTS.touch: return this.#vibrate(event.first);
      case GAME_EVENTS.goal:
        this.#table.flash(event.first, performance.now());
        if (!isPlayed) return;
        return this.#dialogs.announceGoal(this.#sideOf(event.first), this.#engine.state);
      case GAME_EVENTS.foul:
        return isPlayed && this.#dialogs.announce(
          this.#isOwn(event.first) ? "You kept the puck too long."
            : `${this.#names[event.first]} kept the puck too long.`);
      case EVENTS.playersChanged:
        this.#names = this.#engine.playerNames;
        this.#noteOpponent();
        return this.#announcePlayers();
      case EVENTS.joined:
        this.#freeAttempts = 0;
        return;
      case EVENTS.finalScore:
        this.#finalScore = [event.first, event.second];
        return;
      case EVENTS.left:
        this.#endCode = event.first;
        if (this.#isRetrying) return void this.playFree(this.#freeAttempts);
        // The fragment of the address lets the new page join. The host may have a newer one.
        this.#exhibit.wait(event.first, () => location.reload());
        return;
    }
  }

  /** The name of the opponent of the player at this page; empty without one. */
  get #otherName() {
    // The names may come before the seat.
    return this.#names[1 - (this.#engine.state.seat ?? this.#near)];
  }

  /** Remembers who plays against this player, and what to say if somebody else does now. */
  #noteOpponent() {
    const other = this.#otherName, last = this.#opponent;
    if (this.#isWatching || other === "") return;
    this.#opponent = other;
    this.#change = last === "" || last === other ? null
      : { text: `${last} left. ${other} plays now.`, end: performance.now() + CHANGE_TIME };
  }

  #announcePlayers() {
    const [home, away] = this.#names;
    if (this.#isWatching) {
      return this.#dialogs.announce(home && away ? `${home} plays against ${away}.` : "");
    }
    const other = this.#otherName;
    this.#dialogs.announce(
      other ? `You play against ${other}.` : "Waiting for your opponent to return.");
  }

  #isOwn(seat) {
    const hasOneSeat = this.#mode === "network" && !this.#isWatching || this.#mode === "solo";
    return hasOneSeat && seat === this.#near;
  }

  #sideOf(seat) { return this.#isOwn(seat) ? "you" : this.#names[seat]; }

  #vibrate(touches) {
    const own = this.#near === AWAY ? TOUCHES.awayMallet : TOUCHES.homeMallet;
    const isPlayed = this.#mode !== "demonstration" && !this.#isWatching;
    if (isPlayed && touches & own) navigator.vibrate?.(12);
  }

  /** Says in words what the state means. */
  #describe(state) {
    const near = this.#near;
    this.#dialogs.showScore(state, this.#names, near, this.#mode);
    if (this.#mode === "demonstration") return;
    if (state.link === LINKS.ended && !this.#isRetrying) return this.#describeEnd();
    if (state.link !== LINKS.none && state.link < LINKS.playing || state.link === LINKS.ended) {
      return this.#dialogs.showNotice("Joining the match …");
    }
    if (state.link === LINKS.interrupted) {
      return this.#dialogs.showNotice("Connection lost. Reconnecting …");
    }
    if (this.#isWatching) return this.#describeWatched(state);
    if (state.pauses !== 0) return this.#describePause(state, near);
    if (state.phase === PHASES.matchEnd) return this.#describeWinner(state);
    this.#dialogs.closeMessage();
    this.#dialogs.showNotice(this.#notice(state));
  }

  #describeWatched(state) {
    this.#dialogs.closeMessage();
    this.#dialogs.showNotice(this.#watchedNotice(state));
  }

  #watchedNotice(state) {
    if (this.#names.every((name) => name === "")) return "Nobody plays at this table now.";
    if (state.pauses !== 0) {
      const name = this.#names[state.pauses & 1 ? HOME : AWAY];
      return name ? `${name} has paused the match.` : "Waiting for a player to return …";
    }
    if (state.phase !== PHASES.matchEnd) return this.#notice(state);
    const winner = state.phaseSeat ?? HOME;
    return `${this.#names[winner]} wins ${state.score[winner]} to ${state.score[1 - winner]}.`;
  }

  #describeEnd() {
    // Over TLS, only a missing or wrong code is not allowed.
    const needsCode = this.#endCode === END_CODES.notAllowed && location.protocol === "https:";
    const reason = this.#engine.endText || (needsCode ? CODE_NEEDED : END_REASONS[this.#endCode])
      || END_REASONS[10];
    const score = this.#finalScore;
    const [own, other] = [this.#near, 1 - this.#near];
    let text = score
      ? `${reason} The final score is ${score[own]} to ${score[other]}.` : reason;
    if (this.#exhibit.isWaiting) text += " This page joins again by itself.";
    // Only a host that has granted a seat tells its name.
    const title = this.#engine.hostName === "" ? "Not joined" : "The match is over";
    const place = this.#place;
    const canWatch = this.#endCode === END_CODES.declined && place && !place.watches
      && this.#lobby?.has(place.table);
    if (canWatch) {
      const watch = () => this.join({ ...place, watches: true });
      return this.#dialogs.showMessage(title, text, "Watch", watch);
    }
    this.#dialogs.showMessage(title, text, "Join again", () => this.join(place));
  }

  #describePause(state, near) {
    const isOwn = this.#mode !== "network" || (state.pauses & (1 << near)) !== 0;
    if (isOwn) {
      const text = this.#mode === "network" ? "Your opponent waits for you." : "";
      return this.#dialogs.showMessage("Paused", text, "Play on", () => this.resume());
    }
    this.#dialogs.closeMessage();
    const other = this.#names[1 - near];
    this.#dialogs.showNotice(
      other ? `${other} has paused the match.` : "Waiting for your opponent to return …");
  }

  #describeWinner(state) {
    const winner = state.phaseSeat ?? HOME;
    const title = this.#isOwn(winner) ? "You win!" : `${this.#names[winner]} wins`;
    const score = `${state.score[winner]} to ${state.score[1 - winner]}`;
    const text = this.#mode === "network" ? `${score}. The next match begins in a moment.` : score;
    this.#dialogs.showMessage(title, text, "Play again", () => this.playAgain());
  }

  #notice(state) {
    switch (state.phase) {
      case PHASES.faceOff: return state.remaining > 20 ? this.#changeText || "Get ready" : "";
      case PHASES.goalPause: return `Goal for ${this.#sideOf(state.phaseSeat)}!`;
      case PHASES.serve:
        // For the first two of the ten seconds.
        if (state.remaining <= 480) return "";
        return this.#isOwn(state.phaseSeat)
          ? "You serve" : `${this.#names[state.phaseSeat]} serves`;
      default: return "";
    }
  }

  /** What is said about who plays now; empty once it has been shown long enough. */
  get #changeText() {
    return this.#change && performance.now() < this.#change.end ? this.#change.text : "";
  }

  // The page itself.

  #key(event) {
    if (event.target instanceof HTMLInputElement || event.repeat) return;
    if (event.code === "KeyP" && !this.#isWatching || event.code === "Escape") {
      if (this.#dialogs.isPauseShown) this.resume(); else this.pause();
    }
    if (event.code === "KeyM") document.getElementById("mute").click();
  }

  #prepareMute() {
    const button = document.getElementById("mute");
    const show = () => {
      button.setAttribute("aria-pressed", String(this.#sound.isMuted));
      button.style.textDecoration = this.#sound.isMuted ? "line-through" : "";
    };
    this.#sound.isMuted = stored("carom.muted") === "yes";
    show();
    button.addEventListener("click", () => {
      this.#sound.isMuted = !this.#sound.isMuted;
      store("carom.muted", this.#sound.isMuted ? "yes" : "no");
      show();
    });
  }

  /** A match without a network waits for a page that is hidden. */
  #visibilityChanged() {
    const isLocal = this.#mode === "solo" || this.#mode === "shared";
    if (document.hidden) return void (isLocal && this.pause());
    this.#keepAwake(this.#mode !== "demonstration");
    if (this.#mode !== "network") return;
    this.#update();
    // A page that slept for longer than a connection lasts takes its seat again.
    const isOver = this.#engine.state.link === LINKS.ended;
    if (isOver && this.#endCode === END_CODES.timedOut) this.join(this.#place);
  }

  async #keepAwake(isPlaying) {
    try {
      if (isPlaying) this.#wakeLock = await navigator.wakeLock?.request("screen");
      else await this.#wakeLock?.release();
    } catch {
      // Without the lock, the screen may go dark; the match goes on.
    }
  }
}

/** @param {string} key @returns {?string} Null without storage, as in some private windows. */
function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // What cannot be stored is asked for again.
  }
}

try {
  const loading = AirHockey.load(fetch("air-hockey.wasm"));
  const [engine, tables] = await Promise.all([loading, fetchTables()]);
  // For the browser's console and for tests.
  globalThis.airHockey = engine;
  new Page(engine, tables);
} catch (error) {
  document.getElementById("notice").hidden = false;
  document.getElementById("notice").textContent =
    `The game cannot be loaded: ${error.message}`;
}
