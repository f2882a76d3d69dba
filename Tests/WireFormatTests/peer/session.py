"""One connection: handshake, pings, messages and goodbye over a stream, datagrams or both."""

import ipaddress
import os
import struct
import time

from channels import Channels
from links import CARRIER, KEY_CHANGE, SESSION
from wire import RELIABLE_ORDERED, SESSION_CHANNEL, UNRELIABLE, Broken, Reader, text

VERSION = 2
REQUEST, GRANT, GOODBYE, PING, PONG, JOIN, TOKEN, HANDSHAKE_MESSAGE, REFUSAL_TAG = range(1, 10)
SEALED_VERSION = 3
REASONS = [
    "left", "finished", "replaced", "full", "busy", "declined", "versionMismatch",
    "wrongApplication", "protocolViolation", "timedOut", "kicked", "forgotten",
    "tooSlow", "securityMismatch", "identityMismatch", "untrusted", "wrongCode", "tooManyAttempts",
    "tokenUsed", "tokenExpired", "tokenForOtherHost", "tokenBeforeStart", "tokenNotYetValid",
    "tokenInvalid", "moved",
]
ENDPOINT_LIMIT, TOKEN_LIMIT = 6, 768
APPLICATION, APPLICATION_VERSION = "airhockey", 4
SILENCE, HANDSHAKE, GOODBYE_LIMIT, PROOF = 4.0, 10.0, 1.0, 1.0


class Information:
    def __init__(self, identifier, name):
        self.identifier, self.name, self.flags, self.match = identifier, name, 0, 0
        self.application, self.version = APPLICATION, APPLICATION_VERSION

    @property
    def bytes(self):
        flags = self.flags | (4 if self.match else 0)
        head = self.identifier + struct.pack("<BH", flags, self.version)
        match = struct.pack("<H", self.match) if self.match else b""
        return head + text(self.application) + text(self.name) + match

    @classmethod
    def read(cls, reader):
        identifier, (flags, version) = reader.take(16), reader.unpack("BH")
        application, name = reader.text(1, 32), reader.text(0, 63)
        information = cls(identifier, name)
        information.flags, information.version = flags & ~4, version
        information.application = application
        if flags & 4:
            information.match, = reader.unpack("H")
            if information.match == 0:
                raise Broken("match 0")
        return information


class Session:
    """A connection; `local` is this side's peer information. It calls `granted()` and
    `message(channel, mode, reader)` of its owner, and `violation(what)` for a deviation from the
    page that does not end the connection."""

    def __init__(self, owner, local, key, is_initiator, security=None):
        self.security = security
        self.owner, self.local, self.key, self.is_initiator = owner, local, key, is_initiator
        self.channels, self.stream, self.path = Channels(), None, None
        self.peer, self.open, self.reason = None, False, None
        self.began = self.heard = time.monotonic()
        self.goodbye, self.closing, self.proof, self.is_leaving = None, None, None, False
        self.next_endpoints, self.next_token = None, None
        self.pings, self.ping_count, self.next_ping, self.best = {}, 0, None, None
        self.used, self.key_changes, self.patterns = set(), 0, set()

    @property
    def over(self):
        return self.reason is not None and self.closing is None

    # Links.

    def carrier(self):
        """The link that carries messages."""
        has_stream = self.stream is not None and self.stream.open
        if self.path is not None and (self.path.answered or self.path.open and not has_stream):
            return self.path
        return self.stream if has_stream else None

    def add_stream(self, stream):
        if self.stream is not None:
            self.stream.abandon(self.channels)
            self.stream.close()
        self.stream = stream
        if not self.is_initiator:
            return
        if self.security is None:
            return self.request_on_stream()
        payload = self.key if self.security.uses_token else b""
        stream.handshake = self.security.begin(bytes(16), True, payload)
        self.say_handshake(stream, stream.handshake.first())

    def request_on_stream(self):
        if self.open:
            self.say(JOIN, struct.pack("<H", VERSION) + self.key, self.stream)
        else:
            self.say(REQUEST, self.request, self.stream)

    @staticmethod
    def say_handshake(stream, message):
        payload = struct.pack("<H", SEALED_VERSION) + message
        stream.send(SESSION, HANDSHAKE_MESSAGE, payload)

    def take_handshake(self, reader, link):
        """The responder's message of the stream's handshake."""
        if link is not self.stream or link.handshake is None or link.keys is not None:
            raise Broken("a handshake out of place")
        if reader.unpack("H") != (SEALED_VERSION,):
            return self.end("versionMismatch")
        message = reader.rest()
        if self.security.code and not self.open and self.path and self.path.address:
            link.held = message  # the attempt is made on the datagram path first
        else:
            self.answer_handshake(message)

    def answer_handshake(self, message):
        stream, stream.held = self.stream, None
        last = stream.handshake.third(message)
        if last:
            self.say_handshake(stream, last)
        stream.keys = stream.handshake.keys
        self.request_on_stream()

    def take_answer(self, data, address):
        """The responder's message of the datagram path's handshake; returns the data packet after
        it."""
        if self.security.code and not self.open and self.stream and self.stream.keys:
            return b""
        is_secure, packet = self.path.take_answer(data, address)
        if is_secure and not self.path.handshake.requests_itself:
            self.say(REQUEST, self.request, self.path)
        return packet

    def take_opening(self, payload):
        """The request in the first message of a datagram path."""
        reader = Reader(payload)
        if reader.unpack("HH") != (SESSION, REQUEST):
            raise Broken("no request in the first message")
        self.take_request(reader, self.path)

    def take_refusal_tag(self, reader, link):
        if not self.is_initiator or self.security is None:
            raise Broken("a refusal tag out of place")
        reader.take(16)
        reader.end()

    def take_key_change(self, reader, link):
        reader.end()
        if link is not self.stream:
            raise Broken("a key change in a datagram")
        link.take_key_change()

    def check_identity(self, peer):
        """Whether the peer's id is that of the key that it has proved."""
        if self.security is None:
            return True
        keys = [link.keys for link in (self.stream, self.path) if link and link.keys]
        if all(peer.identifier == each.peer for each in keys):
            return True
        self.end("identityMismatch")
        return False

    @property
    def request(self):
        return b"get srv" + struct.pack("<H", VERSION) + self.key + self.local.bytes

    @property
    def opening(self):
        """The request as the payload of the first message of a datagram path."""
        return struct.pack("<HH", SESSION, REQUEST) + self.request

    def links(self):
        return [link for link in (self.stream, self.path) if link is not None and (
            link is self.stream or link.open)]

    def say(self, action, payload, link):
        if link is None:
            return
        if link is self.stream:
            return link.send(SESSION, action, payload)
        mode = UNRELIABLE if action in (PING, PONG) else RELIABLE_ORDERED
        self.channels.send(SESSION_CHANNEL, mode, struct.pack("<HH", SESSION, action) + payload)

    def grant(self, link=None):
        """Grants the seat, or repeats the grant."""
        payload = b"srv ok" + struct.pack("<H", VERSION) + self.local.bytes
        for each in [link] if link else self.links():
            self.say(GRANT, payload, each)
            if each is self.stream:
                each.joined = True
        if not self.open:
            self.begin()

    def begin(self):
        self.open, self.heard, self.next_ping = True, time.monotonic(), time.monotonic()
        if self.path is not None:
            self.path.resumes = True
        if self.security is not None and not self.is_initiator:
            self.say(REFUSAL_TAG, os.urandom(16), self.carrier())
        self.owner.granted(self)
        if self.stream is not None and self.stream.held is not None:
            self.answer_handshake(self.stream.held)

    # Receiving.

    def receive_stream(self):
        self.stream.receive()
        self.heard = now = time.monotonic()
        try:
            for body in self.stream.bodies():
                if self.reason is None:
                    self.take_body(Reader(body), now)
        except Broken as error:
            self.broken(str(error))
        self.hand_on()
        if self.stream is not None and self.stream.ended:
            self.stream_ended(now)

    def stream_ended(self, now):
        self.stream.abandon(self.channels)
        self.stream.close()
        self.stream = None
        if self.reason is None:
            if self.path is not None and not self.open:
                pass  # the handshake continues over datagrams
            elif self.path is None or not self.path.answered:
                self.reason = "lost"
            else:
                self.proof, self.path.owes_ping = (now + PROOF, self.path.next), True
        elif self.path is None or not self.path.open:
            self.closing = None

    def take_body(self, reader, now):
        kind, action = reader.unpack("HH")
        if kind == SESSION:
            self.take_session(action, reader, self.stream)
        elif kind == CARRIER:
            self.used.add(self.stream.kind)
            self.stream.take_carrier(reader, self.channels, now)
        else:
            self.owner.violation(f"packet {kind}, {action}, which the page does not know")

    def receive_datagram(self, data):
        """Receives a data packet."""
        now = time.monotonic()
        try:
            allows = self.is_initiator or self.open
            if self.path.receive(data, self.channels, now, allows):
                self.heard = now
                if self.proof and (self.path.largest_acknowledged or 0) >= self.proof[1]:
                    self.proof = None
                self.used.add(self.path.kind)
        except Broken as error:
            self.owner.violation(str(error))
        self.hand_on()

    def hand_on(self):
        channels = self.channels
        while channels.session:
            reader = Reader(channels.session.popleft())
            try:
                kind, action = reader.unpack("HH")
                if kind != SESSION:
                    raise Broken(f"packet {kind} on channel 64")
                if self.reason is None:
                    self.take_session(action, reader, self.path or self.stream)
            except Broken as error:
                self.broken(str(error))
        while self.open and channels.ready:
            channel, mode, payload = channels.ready.popleft()
            try:
                self.owner.message(channel, mode, Reader(payload))
            except Broken as error:
                self.broken(f"{error} on channel {channel}")

    def take_session(self, action, reader, link):
        takers = {
            REQUEST: self.take_request, JOIN: self.take_join, GRANT: self.take_grant,
            GOODBYE: self.take_goodbye, PING: self.take_ping, PONG: self.take_pong,
            TOKEN: self.take_token, HANDSHAKE_MESSAGE: self.take_handshake,
            REFUSAL_TAG: self.take_refusal_tag, KEY_CHANGE: self.take_key_change}
        if action in takers:
            takers[action](reader, link)
        else:
            self.owner.violation(f"session packet {action}, which the page does not know")

    def take_request(self, reader, link):
        if self.is_initiator or reader.take(7) != b"get srv":
            raise Broken("no request")
        (version,) = reader.unpack("H")
        if version != VERSION:
            return self.end("versionMismatch")
        key, peer = reader.take(16), Information.read(reader)
        reader.end()
        if key != self.key:
            raise Broken("a request with another key")
        if self.open:
            return self.grant(link)
        self.peer = peer
        if not self.check_identity(peer):
            return None
        if peer.application != APPLICATION or peer.identifier == self.local.identifier:
            return self.end("wrongApplication")
        if peer.version != APPLICATION_VERSION:
            return self.end("versionMismatch")
        return self.grant()

    def take_join(self, reader, link):
        if self.is_initiator or link is not self.stream or not self.open:
            raise Broken("a join out of place")
        if reader.unpack("H") != (VERSION,) or reader.take(16) != self.key:
            raise Broken("a join of another connection")
        reader.end()
        self.grant(link)

    def take_grant(self, reader, link):
        if not self.is_initiator or reader.take(6) != b"srv ok" or reader.unpack("H") != (VERSION,):
            raise Broken("no grant")
        peer = Information.read(reader)
        reader.end()
        if link is self.stream:
            link.joined = True
        if not self.open and self.check_identity(peer):
            self.peer = peer
            self.begin()

    def take_token(self, reader, link):
        if not self.is_initiator or not self.open:
            raise Broken("a token out of place")
        reader.take(24)  # a token for another connection, which this peer does not start
        reader.end()

    def take_goodbye(self, reader, link):
        code, _ = reader.unpack("BH")
        reader.text(0, 255)
        if code >= len(REASONS):
            raise Broken(f"goodbye code {code}")
        if REASONS[code] == "moved":
            self.take_next_host(reader)
        reader.end()
        self.reason = REASONS[code]
        self.channels.drop_all()
        if self.path is not None and self.path.open:
            self.path.acknowledge_now()
            self.closing = time.monotonic() + GOODBYE_LIMIT

    def take_next_host(self, reader):
        """Where the match goes on: only a host may say so."""
        if not self.is_initiator:
            raise Broken("a client that sends its host away")
        count = reader.byte()
        if count > ENDPOINT_LIMIT:
            raise Broken(f"{count} endpoints of the next host")
        self.next_endpoints = []
        for _ in range(count):
            version = reader.byte()
            if version not in (4, 6):
                raise Broken(f"an address of IP version {version}")
            address = ipaddress.ip_address(bytes(reader.take(4 if version == 4 else 16)))
            (port,) = reader.unpack("H")
            if port == 0 or address.is_unspecified or address.is_multicast:
                raise Broken(f"nobody can connect to {address}, port {port}")
            self.next_endpoints.append((str(address), port))
        length = reader.varint()
        if length > TOKEN_LIMIT:
            raise Broken(f"a connect token of {length} bytes")
        self.next_token = reader.take(length)

    def take_ping(self, reader, link):
        (number,) = reader.unpack("Q")
        reader.end()
        if self.open:
            self.say(PONG, struct.pack("<QQ", number, time.monotonic_ns()), link)
        elif link is self.stream:
            raise Broken("a ping before the grant")

    def take_pong(self, reader, link):
        number, _ = reader.unpack("QQ")
        reader.end()
        sent = self.pings.pop(number, None)
        if sent is None:
            return self.owner.violation(f"a pong of {number}, which no ping had")
        trip = (time.monotonic_ns() - sent) / 1e6
        self.best = trip if self.best is None else min(self.best, trip)

    # Timers.

    def due(self):
        """The next time at which `work` must be called."""
        moments = [link.due() for link in (self.stream, self.path) if link is not None]
        moments += [self.closing, self.proof and self.proof[0]]
        moments.append(self.next_ping if self.reason is None else None)
        moments.append(self.heard + SILENCE if self.open else self.began + HANDSHAKE)
        return min(moment for moment in moments if moment is not None)

    def work(self):
        now = time.monotonic()
        if self.path is not None:
            self.path.work(self.channels, now)
        if self.reason is None:
            if self.proof is not None and now >= self.proof[0]:
                self.reason = "lost"
            elif now >= (self.heard + SILENCE if self.open else self.began + HANDSHAKE):
                self.end("timedOut")
            elif self.next_ping is not None and now >= self.next_ping:
                self.send_ping(now)
        self.flush(now)
        self.finish(now)

    def send_ping(self, now):
        number = time.monotonic_ns()
        self.pings[number] = number
        self.ping_count += 1
        self.next_ping = now + (0.1 if self.ping_count < 9 else 1)
        self.say(PING, struct.pack("<Q", number), self.carrier())

    def flush(self, now):
        for link in (self.stream, self.path):
            if link is not None and self.security is not None:
                link.lifetime = self.security.lifetime
                if link.keys is not None:
                    self.patterns.add(link.handshake.pattern)
                    self.key_changes = max(self.key_changes, link.keys.changes)
        carrier = self.carrier()
        if self.stream is not None:
            self.stream.flush(self.channels, now, carrier is self.stream)
        if self.path is not None:
            self.path.flush(self.channels, now, carrier is self.path)

    # The end.

    def end(self, reason):
        """Ends the connection: queues a goodbye after everything else."""
        self.reason, self.is_leaving = reason, True
        self.goodbye = struct.pack("<BH", REASONS.index(reason), VERSION) + text("")
        self.closing = time.monotonic() + GOODBYE_LIMIT

    def broken(self, what):
        self.owner.violation(what)
        if self.reason is None:
            self.end("protocolViolation")

    def finish(self, now):
        """Sends the goodbye once everything before it has been acknowledged, and stops once the
        goodbye has been acknowledged."""
        if self.closing is None:
            return
        by_path = self.path is not None and self.carrier() is self.path
        has_left = self.channels.drained if by_path else not self.channels.pending
        # The peer may not have run for a second: what it has not acknowledged waits in its socket.
        is_last = now >= self.closing
        if self.goodbye is not None and (has_left or is_last or self.carrier() is None):
            for link in self.links():
                self.say(GOODBYE, self.goodbye, link)
            self.goodbye = None
            self.flush(now)
        is_heard = self.goodbye is None and self.channels.drained
        if now >= self.closing or self.is_leaving and is_heard:
            self.closing = None  # the receiver stays to acknowledge repetitions
