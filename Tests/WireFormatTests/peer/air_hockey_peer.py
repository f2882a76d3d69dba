#!/usr/bin/env python3
"""A guest at an air-hockey table, written from Carom.docc/WireFormat.md alone.

It joins the table at HOST PORT over TCP, plays for some seconds, checks that everything it reads
obeys the page, and prints one line of JSON. Python 3.11, standard library only.
"""

import argparse
import json
import os
import select
import socket
import struct
import sys
import time

FRAME_LIMIT = 1 << 20
SESSION, MESSAGE = 1, 2
REQUEST, GRANT, GOODBYE, PING, PONG = 1, 2, 3, 4, 5
STATES, MALLETS, EVENTS, REQUESTS = 0, 1, 2, 3
PAUSE, RESUME, FINISH = 0, 1, 3
MATCH_BEGINS, GOAL, PAUSED, RESUMED, MATCH_ENDED, SESSION_ENDED = 1, 2, 3, 4, 5, 6
MATCH_OVER = 5
REASONS = [
    "left", "finished", "replaced", "full", "busy", "declined", "versionMismatch",
    "wrongApplication", "protocolViolation", "timedOut",
]
HALF_LENGTH, HALF_WIDTH = 0.974, 0.519
MALLET_RADIUS, PUCK_RADIUS, MALLET_SPEED = 0.04815, 0.03165, 7.5
STEP = 2.0**-32
# By phase: the seats that it may name, and the ticks that may remain of it.
PHASES = [
    ((255,), 1, 180), ((0, 1), 1, 600), ((0, 1, 255), 1, 420), ((0, 1), 1, 90), ((0, 1), 1, 60),
    ((0, 1), 0, 0),
]
SILENCE = 4.0


def text(string):
    """A short text: the VarInt of a count under 128 is one byte."""
    return bytes([len(string.encode())]) + string.encode()


class Broken(Exception):
    """Bytes that the page does not allow."""


class Reader:
    """Reads a payload from its front; whatever does not fit is Broken."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Broken(f"{count} bytes wanted, {len(self.data) - self.at} left")
        self.at += count
        return self.data[self.at - count : self.at]

    def unpack(self, layout):
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def varint(self):
        value = 0
        for index in range(10):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if index > 0 and byte == 0 or value >> 64:
                    raise Broken("a VarInt that is not the shortest")
                return value
        raise Broken("a VarInt of more than ten bytes")

    def text(self, low, high):
        count = self.varint()
        if not low <= count <= high:
            raise Broken(f"a text of {count} bytes, not {low} to {high}")
        try:
            return self.take(count).decode()
        except UnicodeDecodeError as error:
            raise Broken("a text that is not UTF-8") from error

    def end(self):
        if self.at != len(self.data):
            raise Broken(f"{len(self.data) - self.at} bytes too many")


class Referee:
    """Checks states and events against the page and keeps the score they tell."""

    def __init__(self):
        self.violations, self.states, self.goals, self.pauses = [], 0, 0, 0
        self.state, self.match, self.event_tick = None, None, 0
        self.score = (0, 0)  # as the events tell it
        self.goal_tick = 0  # of the last event that changed the score
        self.over = self.session_ended = False

    def check(self, holds, what):
        if not holds and len(self.violations) < 20:
            self.violations.append(what)

    def read_state(self, reader, sent_tick):
        host_time, echo, tick = reader.unpack("qQQ")
        phase, seat, remaining, held, mallets, match, *score = reader.unpack("BBHBBHBB")
        puck, velocity, spin = reader.unpack("qq"), reader.unpack("qq"), reader.unpack("q")
        home = reader.unpack("qq")
        reader.end()
        self.states += 1
        last, x, y = self.state, puck[0] * STEP, puck[1] * STEP
        seats, low, high = PHASES[phase] if phase < len(PHASES) else ((), 0, 0)
        self.check(seat in seats, f"phase {phase} of seat {seat}")
        self.check(low <= remaining <= high, f"{remaining} ticks of phase {phase}")
        self.check(held <= 3 and mallets == 1, f"held by {held}, mallets {mallets}")
        self.check(echo <= sent_tick, f"echo of tick {echo}, sent {sent_tick}")
        wins = [goals == 7 for goals in score]
        self.check(wins == [phase == MATCH_OVER and seat == of for of in (0, 1)], f"won: {score}")
        self.check(max(score) <= 7, f"score {score}")
        self.check_puck(x, y, velocity, spin[0])
        mallet = [value * STEP for value in home]
        self.check_within(-mallet[0], MALLET_RADIUS, HALF_LENGTH - MALLET_RADIUS, "home's x")
        self.check_within(abs(mallet[1]), 0, HALF_WIDTH - MALLET_RADIUS, "home's y")
        if last is not None:
            self.check(tick > last["tick"], f"tick {tick} after {last['tick']}")
            self.check(host_time >= last["time"], f"host's clock fell at tick {tick}")
            self.check(echo >= last["echo"], f"echo {echo} after {last['echo']}")
            self.check(match >= last["match"], f"match {match} after {last['match']}")
            frozen = (puck, velocity, phase, remaining) == last["scene"]
            self.check(frozen or not (held and last["held"]), f"held, but {tick} is not {last}")
        self.check(not self.session_ended, "a state after the session's end")
        self.check_score(match, tuple(score), tick)
        self.state = dict(tick=tick, time=host_time, echo=echo, match=match, held=held)
        self.state["scene"] = (puck, velocity, phase, remaining)
        return (x, y), [value * STEP for value in velocity]

    def check_within(self, value, low, high, what):
        """Places are rounded to a step, and so are the bounds."""
        self.check(low - STEP <= value <= high + STEP, f"{what} is {value}")

    def check_puck(self, x, y, velocity, spin):
        self.check_within(abs(x), 0, HALF_LENGTH, "the puck's x")
        self.check_within(abs(y), 0, HALF_WIDTH - PUCK_RADIUS, "the puck's y")
        self.check_within(max(abs(v) for v in velocity) * STEP, 0, 15, "the puck's velocity")
        self.check_within(abs(spin) * STEP, 0, 1024, "the puck's spin")

    def check_score(self, match, score, tick):
        """A state is never ahead of the events; only one that is older than them is behind."""
        if match == self.match:
            late = tick < self.goal_tick and all(a <= b for a, b in zip(score, self.score))
            self.check(late or score == self.score, f"state {tick}: {score}, not {self.score}")
        else:
            late = self.match is not None and match < self.match and tick <= self.event_tick
            self.check(late, f"state {tick} of match {match}, not {self.match}")

    def read_event(self, reader):
        tick, kind, seat, match, *score = reader.unpack("QBBHBB")
        reader.end()
        score = tuple(score)
        self.check(not self.session_ended, f"event {kind} after the session's end")
        self.check(tick >= self.event_tick, f"event at tick {tick} after {self.event_tick}")
        self.check(1 <= kind <= 6, f"event {kind}")
        self.check(seat <= 1 and (seat == 0 or kind not in (1, 6)), f"event {kind}, seat {seat}")
        self.event_tick = tick
        if kind == MATCH_BEGINS:
            self.check(self.match in (None, match - 1), f"match {match} after {self.match}")
            self.check(self.match is None or self.over, f"match {self.match} never ended")
            self.check(score == (0, 0), f"match {match} begins at {score}")
            self.match, self.score, self.over = match, score, False
            return
        self.check(match == self.match, f"event {kind} of match {match} in {self.match}")
        if kind == GOAL:
            expected = (self.score[0] + (seat == 0), self.score[1] + (seat == 1))
            self.check(score == expected, f"goal of {seat} makes {score}, not {expected}")
            self.check(not self.over, "a goal after the match's end")
            self.goals, self.goal_tick = self.goals + 1, tick
        else:
            self.check(score == self.score, f"event {kind}: {score}, not {self.score}")
        self.pauses += kind == PAUSED
        if kind == MATCH_ENDED:
            self.check(score[seat & 1] == 7, f"match won by {seat} at {score}")
            self.over = True
        self.session_ended = kind == SESSION_ENDED
        self.score = score


class Player:
    """Guards its goal at the puck's height and strikes when the puck is in its half."""

    def __init__(self):
        self.x, self.y = 0.75, 0.0

    def target(self, puck, velocity):
        x, y = puck[0] + velocity[0] / 30, puck[1] + velocity[1] / 30
        if 0 < x < self.x and velocity[0] < 2:
            goal = (x, y)
        elif x >= self.x:
            goal = (HALF_LENGTH - MALLET_RADIUS, 0.0)
        else:
            goal = (0.75, y * 0.7)
        return self.move(goal)

    def move(self, goal):
        far, side = HALF_LENGTH - MALLET_RADIUS, HALF_WIDTH - MALLET_RADIUS
        x, y = min(max(goal[0], MALLET_RADIUS), far), min(max(goal[1], -side), side)
        distance = ((x - self.x) ** 2 + (y - self.y) ** 2) ** 0.5
        share = min(1, MALLET_SPEED / 60 / distance) if distance > 0 else 0
        self.x += (x - self.x) * share
        self.y += (y - self.y) * share
        return round(x * 10_000), round(y * 10_000)


class Peer:
    """The connection: frames, handshake, pings, and the play over it."""

    def __init__(self, options):
        self.options, self.referee, self.player = options, Referee(), Player()
        self.identifier = os.urandom(16)
        self.buffer, self.granted, self.reason, self.host = b"", False, None, None
        self.pings, self.ping_sent, self.next_ping, self.best = {}, 0, None, None
        self.tick, self.next_tick, self.requests = 0, None, []
        self.view = ((0.0, 0.0), (0.0, 0.0))
        self.heard = time.monotonic()
        self.stream = socket.create_connection((options.host, options.port), timeout=10)
        self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, kind, action, payload=b""):
        body = struct.pack("<HH", kind, action) + payload
        try:
            self.stream.sendall(struct.pack("<Q", len(body)) + body)
        except OSError:
            pass  # what the host said before it closed is still to be read

    def request(self):
        information = self.identifier + struct.pack("<BH", 0, 1) + text("airhockey")
        information += text(self.options.name)
        self.send(SESSION, REQUEST, b"get srv" + struct.pack("<H", 1) + information)

    def run(self):
        self.request()
        while self.reason is None:
            readable, _, _ = select.select([self.stream], [], [], self.pause())
            if readable:
                self.receive()
            if self.reason is None:
                self.work()
        self.stream.close()
        finished = self.reason == "finished"
        self.referee.check(self.referee.session_ended or not finished, "finished without event 6")

    def pause(self):
        moments = [self.heard + (SILENCE if self.granted else 10), self.next_ping, self.next_tick]
        return max(0, min(m for m in moments if m is not None) - time.monotonic())

    def receive(self):
        try:
            data = self.stream.recv(65536)
        except OSError:
            data = b""
        if not data:
            self.reason = "lost"
        self.heard = time.monotonic()
        self.buffer += data
        while self.reason is None and len(self.buffer) >= 8:
            (length,) = struct.unpack_from("<Q", self.buffer)
            if length > FRAME_LIMIT:
                return self.broken(f"a frame of {length} bytes")
            if len(self.buffer) < 8 + length:
                return
            body, self.buffer = self.buffer[8 : 8 + length], self.buffer[8 + length :]
            try:
                self.read(Reader(body))
            except Broken as error:
                self.broken(f"{error} in {body[:40].hex()}")

    def broken(self, what):
        self.referee.check(False, what)
        self.end("protocolViolation")

    def end(self, reason):
        self.reason = reason
        self.send(SESSION, GOODBYE, struct.pack("<BH", REASONS.index(reason), 1) + text(""))

    def read(self, reader):
        kind, action = reader.unpack("HH")
        if kind == SESSION and action in (GRANT, GOODBYE, PING, PONG):
            [self.grant, self.goodbye, self.ping, self.pong][action - GRANT](reader)
        elif kind == SESSION and action == REQUEST:
            raise Broken("a host sent a request")
        elif kind == MESSAGE:
            self.message(action, reader)
        else:
            self.referee.check(False, f"packet {kind}, {action}, which the page does not know")

    def grant(self, reader):
        if self.granted:
            raise Broken("a second grant")
        if reader.take(6) != b"srv ok" or reader.unpack("H") != (1,):
            raise Broken("a grant of another kind")
        identifier, flags, version = reader.take(16), *reader.unpack("BH")
        application, name = reader.text(1, 32), reader.text(0, 63)
        reader.end()
        self.referee.check(identifier != self.identifier, "the host has my id")
        self.referee.check(flags <= 1, f"flags {flags}")
        self.referee.check((application, version) == ("airhockey", 1), f"{application} {version}")
        self.granted, self.host = True, name
        self.next_ping = time.monotonic()
        if self.options.garbage:
            self.stream.sendall(bytes.fromhex(self.options.garbage))

    def goodbye(self, reader):
        code, _ = reader.unpack("BH")
        reader.text(0, 255)
        reader.end()
        self.referee.check(code < len(REASONS), f"goodbye code {code}")
        self.reason = REASONS[code] if code < len(REASONS) else str(code)

    def need_grant(self):
        if not self.granted:
            raise Broken("a packet before the grant")

    def ping(self, reader):
        self.need_grant()
        (number,) = reader.unpack("Q")
        reader.end()
        self.send(SESSION, PONG, struct.pack("<QQ", number, time.monotonic_ns()))

    def pong(self, reader):
        number, _ = reader.unpack("QQ")
        reader.end()
        sent = self.pings.pop(number, None)
        self.referee.check(sent is not None, f"a pong of {number}, which no ping had")
        if sent is not None:
            trip = (time.monotonic_ns() - sent) / 1e6
            self.best = trip if self.best is None else min(self.best, trip)

    def message(self, channel, reader):
        self.need_grant()
        if channel == STATES:
            self.view = self.referee.read_state(reader, self.tick)
            if self.next_tick is None:
                self.next_tick = time.monotonic()
                self.plan_requests(self.next_tick, self.options.seconds)
        elif channel == EVENTS:
            self.referee.read_event(reader)
        else:
            self.referee.check(False, f"a message on channel {channel}")

    def work(self):
        now = time.monotonic()
        if now >= self.heard + (SILENCE if self.granted else 10):
            return self.end("timedOut")
        if self.next_ping is not None and now >= self.next_ping:
            self.send_ping(now)
        if self.next_tick is not None and now >= self.next_tick:
            self.play(now)

    def send_ping(self, now):
        number = time.monotonic_ns()
        self.pings[number] = number
        self.ping_sent += 1
        self.next_ping = now + (0.1 if self.ping_sent < 9 else 1)
        self.send(SESSION, PING, struct.pack("<Q", number))

    def play(self, now):
        self.next_tick = max(self.next_tick + 1 / 60, now - 0.1)
        self.tick += 1
        x, y = self.player.target(*self.view)
        payload = struct.pack("<Qqhh", self.tick, time.monotonic_ns(), x, y)
        self.send(MESSAGE, MALLETS, payload)
        while self.requests and now >= self.requests[0][0]:
            self.send(MESSAGE, REQUESTS, bytes([self.requests.pop(0)[1]]))

    def plan_requests(self, start, seconds):
        """Holds the match for a tenth of the time on the way, and ends the session with it."""
        shares = [(0.5, PAUSE), (0.6, RESUME), (1, FINISH)]
        self.requests = [(start + share * seconds, request) for share, request in shares]

    def summary(self):
        referee = self.referee
        return dict(
            states=referee.states, goals=referee.goals, pauses=referee.pauses,
            score=list(referee.score), peer=self.host,
            roundTripMs=None if self.best is None else round(self.best, 3), inputs=self.tick,
            endReason=self.reason, violations=referee.violations)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--seconds", type=float, default=10, help="of play, from the first state")
    parser.add_argument("--name", default="Python")
    parser.add_argument("--garbage", help="bytes in hexadecimal to send after the grant")
    peer = Peer(parser.parse_args())
    peer.run()
    print(json.dumps(peer.summary()))
    return 1 if peer.referee.violations else 0


if __name__ == "__main__":
    sys.exit(main())
