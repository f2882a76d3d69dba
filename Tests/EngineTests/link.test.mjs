// The data channel beside a page's WebSocket, with stand-ins for the engine, the host and the browser.

import assert from "node:assert/strict";
import test from "node:test";

import { EVENTS, Link } from "../../Sources/WebPages/carom.js";

const host = {
  address: "192.0.2.1", port: 7777, ufrag: "host", password: "secret", fingerprint: "AB:CD",
};

/** A WebSocket that is open at once. */
class Stream {
  bufferedAmount = 0;
  isClosed = false;
  sent = [];
  constructor(url) {
    this.url = url;
    queueMicrotask(() => this.onopen());
  }
  send(bytes) { this.sent.push(bytes); }
  close() { this.isClosed = true; }
}

/** The browser's side of WebRTC, whose channel opens when the test says so. */
class PeerConnection {
  static all = [];
  connectionState = "new";
  isClosed = false;
  constructor() { PeerConnection.all.push(this); }
  createDataChannel(label, options) {
    this.label = label;
    this.options = options;
    this.channel = {
      readyState: "connecting", bufferedAmount: 0, sent: [], send(bytes) { this.sent.push(bytes); },
    };
    return this.channel;
  }
  async createOffer() { return { type: "offer", sdp: "v=0\r\na=mid:data\r\n" }; }
  async setLocalDescription(offer) { this.offer = offer; }
  async setRemoteDescription(answer) { this.answer = answer; }
  close() { this.isClosed = true; }
  /** Opens the channel. */
  open() {
    this.channel.readyState = "open";
    this.channel.onopen();
  }
}

/** An engine that notes what it is told, and has the datagrams of the test to send. */
class Engine {
  now = 0;
  calls = [];
  received = [];
  datagrams = [];
  usesDatagrams = 1;
  bytes = [];
  program = {
    openLink: () => 1, closeLink: () => this.calls.push("closeLink"), linkAction: () => 0,
    nextTimeout: () => Infinity, leave: () => this.calls.push("leave"),
    openDatagrams: () => {
      this.calls.push("openDatagrams");
      return this.usesDatagrams;
    },
    closeDatagrams: () => this.calls.push("closeDatagrams"),
  };
  transmit() { return this.bytes.shift() ?? new Uint8Array(); }
  transmitDatagram() { return this.datagrams.shift() ?? new Uint8Array(); }
  receive() {}
  receiveDatagram(bytes) { this.received.push([...bytes]); }
}

/** Lets the promises that are settled continue. */
const settle = () => new Promise((resume) => setImmediate(resume));

/** A link to a host that answers as `status` and `body` say, on the timers of the test. */
async function makeLink(context, { url = "ws://table.example:7777/carom", status = 200 } = {}) {
  PeerConnection.all = [];
  globalThis.RTCPeerConnection = PeerConnection;
  context.after(() => delete globalThis.RTCPeerConnection);
  const asked = [], timers = [];
  context.mock.method(globalThis, "fetch", async (address) => {
    asked.push(String(address));
    return { status, ok: status === 200, json: async () => host };
  });
  context.mock.method(globalThis, "setTimeout", (call, delay) => timers.push({ call, delay }) - 1);
  context.mock.method(globalThis, "clearTimeout", (index) => delete timers[index]);
  const engine = new Engine(), streams = [];
  let updates = 0;
  const link = new Link(engine, () => {
    streams.push(new Stream(url));
    return streams.at(-1);
  }, () => {
    updates += 1;
    link?.flush();
  });
  await settle();
  const tell = async (name) => {
    link.handle({ code: EVENTS[name], first: 0, second: 0 });
    await settle();
  };
  /** Lets two seconds pass. */
  const expire = () => timers.splice(0).filter(Boolean).forEach(({ call, delay }) => {
    assert.equal(delay, 2000);
    call();
  });
  return { link, engine, streams, asked, tell, expire, updates: () => updates };
}

/** The connection of the newest attempt. */
const newest = () => PeerConnection.all.at(-1);

test("a data channel is opened with the host's answer, and carries datagrams", async (context) => {
  const { link, engine, asked, tell, expire, updates } = await makeLink(context);
  assert.deepEqual(asked, []);
  await tell("joined");
  assert.deepEqual(asked, ["http://table.example:7777/carom/datagrams"]);
  const connection = newest(), { channel } = connection;
  assert.deepEqual(connection.options, {
    negotiated: true, id: 0, ordered: false, maxRetransmits: 0,
  });
  assert.equal(channel.binaryType, "arraybuffer");
  const lines = connection.answer.sdp.split("\r\n");
  for (const line of [
    "a=ice-lite", "a=mid:data", "a=group:BUNDLE data", "a=ice-ufrag:host", "a=ice-pwd:secret",
    "a=fingerprint:sha-256 AB:CD", "a=setup:passive", "a=sctp-port:5000",
    "a=max-message-size:1200", "a=candidate:1 1 udp 2130706431 192.0.2.1 7777 typ host",
    "a=end-of-candidates", "c=IN IP4 192.0.2.1",
  ]) assert.ok(lines.includes(line), line);

  // Nothing is taken from the engine before the channel is open.
  engine.datagrams.push(new Uint8Array([1]), new Uint8Array([2]));
  link.flush();
  assert.deepEqual(channel.sent, []);
  connection.open();
  assert.deepEqual(engine.calls, ["openDatagrams"]);
  assert.deepEqual(channel.sent.map(([first]) => first), [1, 2]);
  const before = updates();
  engine.datagrams.push(new Uint8Array([3]));
  channel.onmessage({ data: new Uint8Array([7, 8]).buffer });
  assert.deepEqual(engine.received, [[7, 8]]);
  assert.equal(updates(), before + 1);
  assert.equal(channel.sent.length, 3);

  // A channel on which too much waits drops datagrams, and so does one that closes.
  for (const state of [{ bufferedAmount: 65537 }, { bufferedAmount: 0, readyState: "closed" }]) {
    Object.assign(channel, state);
    engine.datagrams.push(new Uint8Array([4]));
    link.flush();
    assert.equal(channel.sent.length, 3);
    assert.equal(engine.datagrams.length, 0);
  }
  expire();
  assert.ok(!connection.isClosed);
});

test("a page that came over TLS asks over TLS, and a host may have an IPv6 address",
  async (context) => {
    const address = host.address;
    host.address = "2001:db8::1";
    context.after(() => (host.address = address));
    const { asked, tell } = await makeLink(context, { url: "wss://table.example/carom" });
    await tell("joined");
    assert.deepEqual(asked, ["https://table.example/carom/datagrams"]);
    assert.match(newest().answer.sdp, /\r\nc=IN IP6 2001:db8::1\r\n/);
  });

test("a channel that does not open within two seconds is tried again after a resumption",
  async (context) => {
    const { engine, asked, tell, expire } = await makeLink(context);
    await tell("joined");
    const first = newest();
    expire();
    assert.ok(first.isClosed);
    // Too late.
    first.open();
    assert.deepEqual(engine.calls, []);
    await tell("interrupted");
    await tell("resumed");
    assert.equal(asked.length, 2);
    newest().open();
    assert.deepEqual(engine.calls, ["openDatagrams"]);
  });

test("a host without data channels is asked once, and a busy one again", async (context) => {
  const without = await makeLink(context, { status: 404 });
  await without.tell("joined");
  await without.tell("resumed");
  assert.equal(without.asked.length, 1);
  context.mock.restoreAll();
  const busy = await makeLink(context, { status: 503 });
  await busy.tell("joined");
  await busy.tell("resumed");
  assert.equal(busy.asked.length, 2);
  assert.deepEqual(PeerConnection.all, []);
});

test("without WebRTC, or beside a stream without an address, no host is asked", async (context) => {
  const stream = await makeLink(context, { url: "" });
  await stream.tell("joined");
  assert.deepEqual(stream.asked, []);
  context.mock.restoreAll();
  const other = await makeLink(context);
  delete globalThis.RTCPeerConnection;
  const link = new Link(other.engine, () => new Stream("ws://table.example/carom"), () => {});
  await settle();
  link.handle({ code: EVENTS.joined, first: 0, second: 0 });
  await settle();
  assert.deepEqual(other.asked, []);
});

test("the end of a channel is told once, whether it closes or fails", async (context) => {
  for (const end of [
    ({ channel }) => channel.onclose(), ({ channel }) => channel.onclosing(),
    (connection) => {
      connection.connectionState = "failed";
      connection.onconnectionstatechange();
    },
  ]) {
    const { engine, tell, updates } = await makeLink(context);
    await tell("joined");
    const connection = newest(), { channel } = connection;
    connection.open();
    const before = updates();
    end(connection);
    assert.deepEqual(engine.calls, ["openDatagrams", "closeDatagrams"]);
    assert.ok(connection.isClosed && updates() === before + 1);
    channel.onclose();
    channel.onmessage({ data: new ArrayBuffer(1) });
    assert.equal(engine.calls.length, 2);
    assert.deepEqual(engine.received, []);
    context.mock.restoreAll();
  }
});

test("an interruption and the end of the connection close the channel", async (context) => {
  const { link, engine, tell } = await makeLink(context);
  await tell("joined");
  newest().open();
  // A connection that passes through trouble keeps its channel.
  newest().connectionState = "disconnected";
  newest().onconnectionstatechange();
  await tell("resumed");
  assert.equal(PeerConnection.all.length, 1);
  await tell("interrupted");
  assert.ok(newest().isClosed);
  await tell("resumed");
  newest().open();
  await tell("left");
  engine.datagrams.push(new Uint8Array([9]));
  link.flush();
  assert.ok(newest().isClosed);
  assert.deepEqual(newest().channel.sent.map(([first]) => first), [9]);
});

test("a goodbye goes over the WebSocket, without the channel", async (context) => {
  const { link, engine, streams, tell } = await makeLink(context);
  await tell("joined");
  newest().open();
  engine.bytes.push(new Uint8Array([5]));
  link.leave();
  assert.deepEqual(engine.calls, ["openDatagrams", "closeDatagrams", "leave"]);
  assert.ok(newest().isClosed && streams[0].isClosed);
  assert.equal(streams[0].sent.length, 1);
});

test("a channel for which the engine has no use is closed", async (context) => {
  const { engine, tell } = await makeLink(context);
  engine.usesDatagrams = 0;
  await tell("joined");
  newest().open();
  assert.ok(newest().isClosed);
});
