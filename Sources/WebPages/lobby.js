// The lobby of a host with several tables: who plays where, and where there is a free seat.

/** The time between two questions to the host, in milliseconds. */
const INTERVAL = 2000;
/** How long the host may take to answer, in milliseconds. */
const LIMIT = 3000;
/** The maximum number of tables of a host. */
const MOST_TABLES = 64;

/**
 * A table, as the host describes it.
 * @typedef {object} TableEntry
 * @property {number} table Its number, from 1.
 * @property {(?string)[]} players The names of home and away; null without a player.
 * @property {number} freeSeats
 * @property {number[]} score Home's and away's goals.
 * @property {number} spectators
 */

/**
 * A place at a table.
 * @typedef {{table: number, watches: boolean}} Place
 */

/**
 * The place that the fragment of an address names, such as "#table=3" or "#table=3&watch".
 * @param {string} fragment
 * @returns {?Place} Null if it names none.
 */
export function placeIn(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, "")), text = fields.get("table");
  if (text === null || !/^[1-9][0-9]{0,4}$/.test(text) || Number(text) > 65535) return null;
  return { table: Number(text), watches: fields.has("watch") };
}

/**
 * The fragment that names a place.
 * @param {Place} place
 */
export function fragmentOf({ table, watches }) { return `#table=${table}${watches ? "&watch" : ""}`; }

/**
 * The table at which a player finds somebody to play with: the fullest one that still has a seat,
 * else an empty one.
 * @param {TableEntry[]} tables
 * @returns {?number} Null if all tables are full.
 */
export function chooseTable(tables) {
  const free = tables.filter(({ freeSeats }) => freeSeats > 0);
  free.sort((one, other) => one.freeSeats - other.freeSeats || one.table - other.table);
  return free[0]?.table ?? null;
}

/**
 * What the lobby says about a table.
 * @param {TableEntry} entry
 */
export function describe({ players, freeSeats, score, spectators }) {
  const isEmpty = players.every((name) => name === null);
  const [home, away] = players.map((name) => name ?? "nobody");
  const kept = players.includes(null) ? "seat kept for its player" : "full";
  const seats = freeSeats === 0 ? kept : freeSeats === 1 ? "1 free seat" : `${freeSeats} free seats`;
  return {
    players: isEmpty ? "Empty" : `${home} ${score[0]} – ${score[1]} ${away}`,
    seats: spectators === 0 ? seats : `${seats}, ${spectators} watching`,
    action: freeSeats > 0 ? "Play" : "Watch",
  };
}

/**
 * Asks the host that has served the page for its tables.
 * @returns {Promise<?TableEntry[]>} Null if it does not answer, or has only one table.
 */
export async function fetchTables() {
  try {
    const response = await fetch("tables", {
      cache: "no-store", signal: AbortSignal.timeout?.(LIMIT),
    });
    const text = await response.text();
    if (!response.ok) return null;
    const { tables } = JSON.parse(text);
    return Array.isArray(tables) && tables.length <= MOST_TABLES ? tables : null;
  } catch {
    return null;
  }
}

const element = (id) => document.getElementById(id);

/** Sets a text only where it changes, so that screen readers do not repeat it. */
function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** The list of tables, and what its buttons do. */
export class Lobby {
  #dialog = element("lobby");
  #list = element("tables");
  #page;
  #tables;
  #timer = null;
  #note = "";

  /**
   * @param {object} page What the buttons call.
   * @param {TableEntry[]} tables
   */
  constructor(page, tables) {
    this.#page = page;
    this.#tables = tables;
    element("free-table").addEventListener("click", () => page.playFree());
    element("alone").addEventListener("click", () => page.showTitle());
    this.#dialog.addEventListener("cancel", (event) => event.preventDefault());
    this.#dialog.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (!element("free-table").disabled) page.playFree();
    });
    this.#list.addEventListener("keydown", (event) => this.#moveFocus(event));
  }

  /**
   * Shows the lobby, and keeps it up to date.
   * @param {string} [note] What has happened, in a sentence.
   */
  show(note = "") {
    this.#note = note;
    this.#draw(this.#tables);
    if (!this.#dialog.open) this.#dialog.showModal();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#update(), INTERVAL);
    this.#update();
  }

  /** Whether the host has a table of this number. */
  has(table) { return this.#tables.some((entry) => entry.table === table); }

  /** Hides the lobby. */
  close() {
    clearInterval(this.#timer);
    this.#timer = null;
    if (this.#dialog.open) this.#dialog.close();
  }

  async #update() {
    const tables = await fetchTables();
    if (this.#timer === null) return;
    if (tables) this.#tables = tables;
    this.#draw(tables);
  }

  /** @param {?TableEntry[]} tables Null if the host does not answer. */
  #draw(tables) {
    const note = tables ? this.#note : "The host does not answer. Its tables may have changed.";
    setText(element("lobby-note"), note);
    element("lobby-note").hidden = note === "";
    const button = element("free-table"), isFull = chooseTable(this.#tables) === null;
    setText(button, isFull ? "All tables are full" : "Play at a free table");
    button.disabled = isFull;
    while (this.#list.children.length > this.#tables.length) this.#list.lastChild.remove();
    this.#tables.forEach((entry, index) => {
      const row = this.#list.children[index] ?? this.#addRow(index);
      this.#drawRow(row.firstChild, entry);
    });
  }

  #addRow(index) {
    const row = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    for (const part of ["number", "players", "action", "seats"]) {
      const span = document.createElement("span");
      span.className = part;
      button.append(span);
    }
    button.addEventListener("click", () => {
      const { table, freeSeats } = this.#tables[index];
      this.#page.join({ table, watches: freeSeats === 0 });
    });
    row.append(button);
    this.#list.append(row);
    return row;
  }

  #drawRow(button, entry) {
    const texts = describe(entry);
    setText(button.querySelector(".number"), String(entry.table));
    for (const part of ["players", "seats", "action"]) {
      setText(button.querySelector(`.${part}`), texts[part]);
    }
    button.classList.toggle("free", entry.freeSeats > 0);
    const label = `Table ${entry.table}: ${texts.players}, ${texts.seats}. ${texts.action}.`;
    if (button.getAttribute("aria-label") !== label) button.setAttribute("aria-label", label);
  }

  /** The arrow keys move from table to table, Home and End to the first and the last one. */
  #moveFocus(event) {
    const buttons = [...this.#list.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const targets = {
      ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0,
      End: buttons.length - 1,
    };
    const target = buttons[targets[event.key]];
    if (!target) return;
    event.preventDefault();
    target.focus();
  }
}
