"""One peer of a match: its sockets, its one session, and 60 ticks per second."""

import json
import os
import random
import select
import socket
import time

from inputs import INPUTS as RUNS
from inputs import KEYFRAME, SEAT, STATE_REPORT, read_state_report
from secure import Security
from session import Information
from wire import RELIABLE_ORDERED, UNRELIABLE_SEQUENCED, Broken

INPUTS, SYNC, WORDS = 0, 1, 2
MODES = {INPUTS: UNRELIABLE_SEQUENCED, SYNC: RELIABLE_ORDERED, WORDS: RELIABLE_ORDERED}


class Peer:
    """The common part of client and host."""

    role, speed = "", 1.0

    def __init__(self, options):
        self.options, self.violations = options, []
        self.security = None
        if options.security != "none":
            self.security = Security(
                options.code, options.lifetime, *self.read_token(options.token),
                self.read_backend_key(options.key),
                bytes.fromhex(options.host_key) if options.host_key else None)
        own = self.security.identifier if self.security else os.urandom(16)
        self.local = Information(own, options.name)
        self.session, self.udp, self.listener = None, None, None
        self.next_tick, self.ticks = None, 0
        self.chance = random.Random(options.seed)

    @staticmethod
    def read_token(file):
        """The token and the player's id."""
        if file is None:
            return None, None
        with open(file, encoding="utf-8") as stream:
            fields = json.load(stream)
        return fields["token"], bytes.fromhex(fields["player"])

    @staticmethod
    def read_backend_key(file):
        if file is None:
            return None
        with open(file, encoding="ascii") as stream:
            return bytes.fromhex(stream.read())

    # Events of the session.

    def violation(self, what):
        if len(self.violations) < 20:
            self.violations.append(what)

    def message(self, channel, mode, reader):
        self.check(MODES.get(channel) == mode, f"a message on channel {channel} in mode {mode}")
        if channel not in self.takers:
            raise Broken("a channel that the game does not use")
        self.takers[channel](reader)

    def send(self, channel, payload):
        self.session.channels.send(channel, MODES[channel], payload)

    def read_sync(self, reader):
        """Receives a rollback packet."""
        kind = reader.byte()
        if kind == KEYFRAME:
            self.take_keyframe(reader)
        elif kind == STATE_REPORT:
            _, tick, *_ = read_state_report(reader.rest())
            self.violation(f"the other side has another state of tick {tick}")
            self.take_report()
        elif kind == SEAT and self.role == "client":
            self.take_seat(reader)
        elif kind == RUNS and self.role == "client":
            self.take_inputs(reader)  # the host's last inputs
        else:
            raise Broken(f"a rollback packet {kind} on channel {SYNC}")

    def check(self, holds, what):
        if not holds:
            self.violation(what)

    # Sockets.

    @property
    def routing(self):
        token = self.security and self.security.token
        return token and token.routing

    def send_datagram(self, data, address):
        if self.routing:
            data = self.routing.add(data)
        if self.chance.random() >= self.options.loss:
            try:
                self.udp.sendto(data, address)
            except OSError:
                pass  # equivalent to a lost datagram

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
            if self.routing:
                data = self.routing.remove(data)
            if data and self.chance.random() >= self.options.loss:
                self.take_datagram(data, address)

    def take_data(self, data, address):
        """Receives a data packet; returns whether it came from the session's peer."""
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
            keyChanges=session.key_changes, handshakes=sorted(session.patterns),
            violations=self.violations)
