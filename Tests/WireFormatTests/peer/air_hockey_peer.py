#!/usr/bin/env python3
"""A peer at an air-hockey table, written from Carom.docc/WireFormat.md alone.

It joins the table at HOST PORT, or with --serve hosts one there, over TCP, UDP or both, plays for
some seconds, checks that everything it reads obeys the page, and prints one line of JSON. Python
3.11, standard library only.
"""

import argparse
import json
import os
import random
import select
import socket
import struct
import sys
import time

from door import Doorkeeper, read_hello
from inputs import KEYFRAME, NEXT_MATCH, PAUSE, RESUME, STATE_REPORT, keyframe, read_state_report
from links import GONE, HELLO, RETRY, Datagrams, Stream
from play import Player, Rest, ended_word, finish_word, read_ended, read_finish
from rink import AWAY, HOME, Rink
from rollback import PATIENCE, Decider, Follower
from session import GOODBYE, JOIN, REASONS, REQUEST, VERSION, Information, Session
from wire import RELIABLE_ORDERED, UNRELIABLE_SEQUENCED, Broken, Reader, text

INPUTS, SYNC, WORDS = 0, 1, 2
MODES = {INPUTS: UNRELIABLE_SEQUENCED, SYNC: RELIABLE_ORDERED, WORDS: RELIABLE_ORDERED}
APPLICATION = ("airhockey", 2)


class Peer:
    """Sockets, the one session, and a tick 60 times a second."""

    role, speed = "", 1.0

    def __init__(self, options):
        self.options, self.violations = options, []
        self.local = Information(os.urandom(16), options.name)
        self.session, self.udp, self.listener = None, None, None
        self.next_tick, self.ticks = None, 0
        self.chance = random.Random(options.seed)

    # What the session tells.

    def violation(self, what):
        if len(self.violations) < 20:
            self.violations.append(what)

    def message(self, channel, mode, reader):
        self.check(MODES.get(channel) == mode, f"a message on channel {channel} in mode {mode}")
        if channel not in self.takers:
            raise Broken("a channel that nobody has")
        self.takers[channel](reader)

    def send(self, channel, payload):
        self.session.channels.send(channel, MODES[channel], payload)

    def read_sync(self, reader):
        """Takes a rollback packet."""
        kind = reader.byte()
        if kind == KEYFRAME:
            self.take_keyframe(reader)
        elif kind == STATE_REPORT:
            _, tick, *_ = read_state_report(reader.rest())
            self.violation(f"the other side has another state of tick {tick}")
            self.take_report()
        else:
            raise Broken(f"a rollback packet {kind} on channel {SYNC}")

    def check(self, holds, what):
        if not holds:
            self.violation(what)

    # Sockets.

    def send_datagram(self, data, address):
        if self.chance.random() >= self.options.loss:
            try:
                self.udp.sendto(data, address)
            except OSError:
                pass  # as good as lost

    def bind_datagrams(self, address):
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(address)
        self.udp.setblocking(False)

    def receive_datagrams(self):
        while True:
            try:
                data, address = self.udp.recvfrom(65_536)
            except OSError:
                return
            if data and self.chance.random() >= self.options.loss:
                self.take_datagram(data, address)

    def take_data(self, data, address):
        """A data packet; says whether it is of the session's other side."""
        path = self.session.path if self.session else None
        if path is None or address != path.address:
            return False
        self.session.receive_datagram(data)
        return True

    def sockets(self):
        streams = [self.session.stream] if self.session and self.session.stream else []
        return streams, [each for each in (self.udp, self.listener) if each is not None]

    def run(self):
        while not self.over:
            streams, others = self.sockets()
            writing = [stream.socket for stream in streams if stream.unsent]
            reading = [stream.socket for stream in streams] + others
            readable, writable, _ = select.select(reading, writing, [], self.pause())
            for stream in streams:
                if stream.socket in readable:
                    self.receive_stream(stream)
                elif stream.socket in writable:
                    stream.push()
            if self.udp in readable:
                self.receive_datagrams()
            if self.listener in readable:
                self.accept()
            self.work()
        streams, others = self.sockets()
        for each in streams + others:
            each.close()

    @property
    def over(self):
        return self.session is not None and self.session.over

    def receive_stream(self, stream):
        self.session.receive_stream()

    def pause(self):
        moments = [self.next_tick, self.session.due() if self.session else None]
        moments = [moment for moment in moments if moment is not None]
        return max(0, min(moments) - time.monotonic()) if moments else None

    def work(self):
        now = time.monotonic()
        if self.session is None:
            return
        if self.next_tick is not None and now >= self.next_tick and self.session.reason is None:
            self.next_tick = max(self.next_tick + 1 / 60 / self.speed, now - 0.1)
            self.ticks += 1
            self.tick(now)
        if self.session.reason is not None:
            self.next_tick = None
        self.session.work()

    def summary(self):
        session = self.session
        return dict(
            role=self.role, peer=session.peer.name if session.peer else None, ticks=self.ticks,
            roundTripMs=None if session.best is None else round(session.best, 3),
            links=sorted(session.used), resent=session.channels.resent, endReason=session.reason,
            violations=self.violations)


class Guest(Peer):
    """Asks for a seat, and plays away."""

    role = "guest"

    def __init__(self, options):
        super().__init__(options)
        self.game, self.player = Follower(self.violation), Player(AWAY)
        self.asked, self.ended = [], None
        self.takers = {INPUTS: self.take_inputs, SYNC: self.read_sync, WORDS: self.take_word}
        address = (socket.gethostbyname(options.host), options.port)
        self.session = Session(self, self.local, os.urandom(16), is_caller=True)
        if options.transport != "tcp":
            self.bind_datagrams(("", 0))
            self.session.path = Datagrams(
                self.send_datagram, self.session.key, True, addresses=[address])
        if options.transport != "udp":
            self.session.add_stream(Stream(socket.create_connection(address, timeout=10)))

    def take_datagram(self, data, address):
        path = self.session.path
        if data[0] == RETRY:
            if path.take_retry(data, address):
                self.session.say(REQUEST, self.session.request, path)
        elif data[0] == GONE:
            if data[1:9] == self.session.key[:8] and len(data) == 10:
                self.session.reason = REASONS[data[9]]
        elif data[0] < HELLO:
            self.take_data(data, address)

    def granted(self, session):
        peer = session.peer
        self.check(peer.identifier != self.local.identifier, "the host has my id")
        self.check(peer.flags <= 1, f"flags {peer.flags}")
        self.check((peer.application, peer.version) == APPLICATION, f"{peer.application}")
        garbage = bytes.fromhex(self.options.garbage or "")
        if garbage and session.stream is not None:
            session.stream.unsent += garbage
        elif garbage:
            self.send_datagram(garbage, session.path.address)

    # The game.

    def take_keyframe(self, reader):
        self.game.receive_keyframe(reader, (self.session.best or 0) / 1_000)
        if self.next_tick is not None or self.session.reason is not None:
            return
        self.next_tick = time.monotonic()
        # The match is held for a tenth of the time on the way, then the whole state is asked for
        # once more, and the session ends with the time.
        shares = [
            (0.5, lambda: self.player.requests.append(PAUSE)),
            (0.6, lambda: self.player.requests.append(RESUME)),
            (0.7, self.ask_for_keyframe), (1, lambda: self.send(WORDS, finish_word()))]
        seconds = self.options.seconds
        self.asked = [(self.next_tick + share * seconds, ask) for share, ask in shares]

    def ask_for_keyframe(self):
        self.send(SYNC, bytes([KEYFRAME]))

    def take_report(self):
        self.ask_for_keyframe()

    def take_inputs(self, reader):
        self.check(self.ended is None, "inputs after the last word")
        if self.game.rink is None:
            return  # they overtook the keyframe
        if not self.game.receive(reader) and self.game.unusable % PATIENCE == 0:
            self.ask_for_keyframe()

    def take_word(self, reader):
        self.check(self.ended is None, "two last words")
        self.ended = read_ended(reader)

    def tick(self, now):
        while self.asked and now >= self.asked[0][0]:
            self.asked.pop(0)[1]()
        self.speed = self.game.speed()
        if self.game.may_advance:
            self.game.own.append(self.player.input(self.game.rink))
        self.send(INPUTS, self.game.message())

    def compare_ended(self):
        """The last word is what was played; what was lost behind the last inputs may be a goal."""
        rink = self.game.rink
        if self.ended is None or rink is None:
            return self.violation("finished without a last word")
        match, score = self.ended
        more = sum(score) - sum(rink.score)
        is_same = (match, score) == (rink.match, rink.score)
        is_later = match == rink.match and more == 1 and self.options.loss > 0
        return self.check(is_same or is_later, f"ended with {self.ended}, not {vars(rink)}")

    def summary(self):
        game = self.game
        if self.session.reason == "finished":
            self.compare_ended()
        return super().summary() | vars(game.tally) | dict(
            hashes=game.hashes, keyframes=game.keyframes,
            overruled=game.overruled, score=game.rink.score if game.rink else None)


class Host(Peer):
    """Gives the one seat to the first who asks, and keeps the table."""

    role = "host"

    def __init__(self, options):
        super().__init__(options)
        rink = Rink()
        rink.tick = 2_000  # so that the numbers of ticks in packets begin anew on the way
        self.game, self.player, self.rest = Decider(rink), Player(HOME), Rest()
        self.takers = {INPUTS: self.take_inputs, SYNC: self.read_sync, WORDS: self.take_word}
        self.doorkeeper, self.ends_at, self.strangers = Doorkeeper(), None, []
        self.bind(options.host, options.port)
        print(f"port {self.port}", flush=True)

    def bind(self, host, port):
        if self.options.transport != "udp":
            self.listener = socket.create_server((host, port))
            port = self.listener.getsockname()[1]
        if self.options.transport != "tcp":
            self.bind_datagrams((host, port))
            port = self.udp.getsockname()[1]
        self.port = port

    def sockets(self):
        streams, others = super().sockets()
        return streams + self.strangers, others

    # Who comes.

    def accept(self):
        self.strangers.append(Stream(self.listener.accept()[0]))

    def receive_stream(self, stream):
        if stream not in self.strangers:
            return super().receive_stream(stream)
        stream.receive()
        try:
            body = next(stream.bodies(), None)
            key, joins = (None, False) if body is None else self.read_key(Reader(body))
        except Broken as error:
            return self.refuse(stream, "protocolViolation", str(error))
        if stream.ended:
            self.strangers.remove(stream)
        if key is None:
            return None
        if self.session is not None and key != self.session.key:
            return self.refuse(stream, "forgotten" if joins else "full")
        if joins and (self.session is None or not self.session.open):
            return self.refuse(stream, "forgotten")
        self.strangers.remove(stream)
        self.session = self.session or Session(self, self.local, key, is_caller=False)
        self.session.add_stream(stream)
        stream.buffer = struct.pack("<Q", len(body)) + body + stream.buffer
        return self.session.receive_stream()

    @staticmethod
    def read_key(reader):
        """The key of a request or a join, and whether it is a join."""
        kind, action = reader.unpack("HH")
        if kind != 1 or action not in (REQUEST, JOIN):
            raise Broken("no request")
        if action == REQUEST and reader.take(7) != b"get srv":
            raise Broken("no request")
        (version,) = reader.unpack("H")
        return reader.take(16) if version == VERSION else bytes(16), action == JOIN

    def refuse(self, stream, reason, what=None):
        if what:
            self.violation(what)
        goodbye = struct.pack("<BH", REASONS.index(reason), VERSION) + text("")
        stream.send(1, GOODBYE, goodbye)
        self.strangers.remove(stream)
        stream.close()

    def take_datagram(self, data, address):
        if data[0] == HELLO:
            try:
                self.take_hello(data, address)
            except Broken as error:
                self.violation(str(error))
        elif data[0] < HELLO and not self.take_data(data, address) and len(data) >= 30:
            self.send_datagram(self.doorkeeper.retry(address), address)

    def take_hello(self, data, address):
        version, key, epoch, resumes, cookie, rest = read_hello(data)
        if not self.doorkeeper.admits(cookie, address):
            prefix = b"" if cookie else key[:8]
            return self.send_datagram(self.doorkeeper.retry(address, prefix), address)
        code = None
        if version != VERSION:
            code = "versionMismatch"
        elif self.session is None and resumes:
            code = "forgotten"
        elif self.session is not None and self.session.key != key:
            code = "full"
        if code is not None:
            gone = struct.pack("<B8sB", GONE, key[:8], REASONS.index(code))
            return self.send_datagram(gone, address)
        self.session = self.session or Session(self, self.local, key, is_caller=False)
        if self.session.path is None:
            self.session.path = Datagrams(
                self.send_datagram, key, False, address=address, epoch=epoch)
        else:
            self.session.path.move(address, epoch)
        return self.take_data(rest, address) if rest else None

    # The game.

    def granted(self, session):
        self.next_tick = time.monotonic()
        self.ends_at = self.next_tick + self.options.seconds

    def take_inputs(self, reader):
        fraction = 1 + (time.monotonic() - self.next_tick) * 60 if self.next_tick else 0
        self.game.receive(reader, min(max(fraction, 0), 1))

    def take_keyframe(self, reader):
        reader.end()  # an empty one asks for one
        self.game.owes_keyframe = True

    def take_report(self):
        self.game.owes_keyframe = True

    def take_word(self, reader):
        read_finish(reader)
        self.finish()

    def tick(self, now):
        game = self.game
        if self.rest.is_over(game.rink):
            self.player.requests.append(NEXT_MATCH)
        game.decide(self.player.input(game.rink))
        if game.wants_keyframe:
            self.send(SYNC, bytes([KEYFRAME]) + keyframe(game.rink))
            game.keyframe_sent()
        self.send(INPUTS, game.message())
        if now >= self.ends_at:
            self.finish()

    def finish(self):
        if self.session.reason is None:
            self.send(WORDS, ended_word(self.game.rink))
            self.session.end("finished")

    def summary(self):
        game = self.game
        return super().summary() | vars(game.tally) | dict(
            inputs=game.inputs, missed=game.missed, score=game.rink.score)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--serve", action="store_true", help="host a table; port 0: any")
    parser.add_argument("--transport", choices=["tcp", "udp", "both"], default="tcp")
    parser.add_argument("--seconds", type=float, default=10, help="of play, from the first state")
    parser.add_argument("--name", default="Python")
    parser.add_argument("--loss", type=float, default=0, help="share of datagrams lost here")
    parser.add_argument("--seed", type=int, default=1, help="of what is lost")
    parser.add_argument("--garbage", help="bytes in hexadecimal to send after the grant")
    options = parser.parse_args()
    peer = Host(options) if options.serve else Guest(options)
    peer.run()
    print(json.dumps(peer.summary()))
    return 1 if peer.violations else 0


if __name__ == "__main__":
    sys.exit(main())
