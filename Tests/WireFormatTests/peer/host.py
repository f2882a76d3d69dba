"""The host, which grants its one seat to the first client and plays home."""

import socket
import struct
import time

from handshake import AddressValidator, read_hello
from inputs import INPUTS as RUNS
from inputs import KEYFRAME, NEXT_MATCH, SEAT, keyframe, seat
from links import GONE, HELLO, HELLO_LENGTH, Datagrams, Stream
from play import Player, Rest, ended_word, playing_word, read_finish
from rink import AWAY, HOME, Rink
from rollback import Decider
from session import GOODBYE, HANDSHAKE_MESSAGE, JOIN, REASONS, REQUEST, SEALED_VERSION, VERSION
from secure import public_key
from session import Session
from tokens import Refused
from game_peer import INPUTS, SYNC, WORDS, Peer
from wire import Broken, Reader, text

UNPROVED = 360  # bytes that may answer a datagram from an address that is not proved


class Host(Peer):
    """Grants its one seat to the first client, and plays home."""

    role = "host"

    def __init__(self, options):
        super().__init__(options)
        rink = Rink()
        rink.tick = 2_000  # so that the tick numbers in packets wrap around during the test
        self.game, self.player, self.rest = Decider(rink), Player(HOME), Rest()
        self.takers = {INPUTS: self.take_inputs, SYNC: self.read_sync, WORDS: self.take_word}
        self.validator, self.ends_at, self.pending = AddressValidator(), None, []
        self.bind(options.host, options.port)
        print(f"port {self.port}", flush=True)
        if self.security:
            print(f"key {public_key(self.security.static).hex()}", flush=True)

    def bind(self, host, port):
        if self.options.transport != "udp":
            self.listener = socket.create_server((host, port))
            port = self.listener.getsockname()[1]
        if self.options.transport != "tcp":
            self.bind_datagrams((host, port))
            port = self.udp.getsockname()[1]
        self.port = port
        if self.security and self.security.backend:
            self.security.backend.address = (socket.inet_aton(host), port)

    def sockets(self):
        streams, others = super().sockets()
        return streams + self.pending, others

    # Connections.

    def accept(self):
        self.pending.append(Stream(self.listener.accept()[0]))

    def receive_stream(self, stream):
        if stream not in self.pending:
            return super().receive_stream(stream)
        stream.receive()
        try:
            body = self.take_first_body(stream)
            key, joins = (None, False) if body is None else self.read_key(Reader(body))
            if stream.owner is not None and key not in (None, stream.owner):
                raise Broken("a ticket of another connection")
        except Broken as error:
            return self.refuse(stream, "protocolViolation", str(error))
        except Refused as refusal:
            return self.refuse(stream, refusal.reason)
        if stream.ended:
            self.pending.remove(stream)
        if key is None:
            return None
        if self.session is not None and key != self.session.key:
            return self.refuse(stream, "forgotten" if joins else "full")
        if joins and (self.session is None or not self.session.open):
            return self.refuse(stream, "forgotten")
        self.pending.remove(stream)
        self.session = self.session or self.make_session(key)
        self.session.add_stream(stream)
        stream.plain.append(body)
        return self.session.receive_stream()

    def make_session(self, key):
        return Session(self, self.local, key, is_initiator=False, security=self.security)

    def take_first_body(self, stream):
        """Takes the messages of the handshake; returns the body after them, or None."""
        for body in stream.bodies():
            reader = Reader(body)
            head = reader.unpack("HH")
            if head == (1, GOODBYE):
                stream.ended = True  # the client has ended the session before it joined the stream
                return None
            if self.security is None or stream.keys is not None:
                return body
            if head != (1, HANDSHAKE_MESSAGE) or reader.unpack("H") != (SEALED_VERSION,):
                raise Broken("no handshake")
            if stream.handshake is None:
                handshake = stream.handshake = self.security.begin(bytes(16), False)
                answer = handshake.second(reader.rest())
                if handshake.uses_token:
                    stream.owner = handshake.payload
                    self.security.backend.use(handshake.ticket, stream.owner)
                elif handshake.payload:
                    raise Broken("a first message on a stream with a request in it")
                Session.say_handshake(stream, answer)
                stream.keys = handshake.keys  # nothing follows a token or this side's key
                stream.push()
            else:
                stream.handshake.end(reader.rest())
                stream.keys = stream.handshake.keys
        return None

    @staticmethod
    def read_key(reader):
        """The key of a request or join, and whether it is a join."""
        kind, action = reader.unpack("HH")
        if kind != 1 or action not in (REQUEST, JOIN):
            raise Broken("neither a request nor a join")
        if action == REQUEST and reader.take(7) != b"get srv":
            raise Broken("neither a request nor a join")
        (version,) = reader.unpack("H")
        return reader.take(16) if version == VERSION else bytes(16), action == JOIN

    def refuse(self, stream, reason, what=None):
        if what:
            self.violation(what)
        goodbye = struct.pack("<BH", REASONS.index(reason), VERSION) + text("")
        stream.send(1, GOODBYE, goodbye)
        self.pending.remove(stream)
        stream.close()

    def take_datagram(self, data, address):
        if data[0] == HELLO:
            try:
                self.take_hello(data, address)
            except Broken as error:
                self.violation(str(error))
        elif data[0] < HELLO and not self.take_data(data, address) and len(data) >= 30:
            self.send_datagram(self.validator.retry(address), address)

    def take_hello(self, data, address):
        is_sealed = self.security is not None
        version, key, epoch, resumes, cookie, tag, part, rest = read_hello(data, is_sealed)
        presents = not cookie and part is not None and self.admits_ticket(key, address)
        if not presents and not self.validator.admits(cookie, address):
            prefix = b"" if cookie else key[:8]
            return self.send_datagram(self.validator.retry(address, prefix), address)
        code = None
        if version != (SEALED_VERSION if is_sealed else VERSION):
            code = "versionMismatch"
        elif self.session is None and resumes:
            code = "forgotten"
        elif self.session is not None and self.session.key != key:
            code = "full"
        if code is not None:
            return self.send_gone(code, key, address)
        if is_sealed and self.security.uses_token:
            self.take_ticket(key, epoch, part, address, presents)
        if is_sealed:
            hello = data[:HELLO_LENGTH]
            self.take_sealed_hello(key, epoch, cookie, tag, part, hello, address)
            return self.take_data(rest, address) if rest and self.session else None
        self.session = self.session or self.make_session(key)
        if self.session.path is None:
            self.session.path = Datagrams(
                self.send_datagram, key, False, address=address, epoch=epoch)
        else:
            self.session.path.move(address, epoch)
        return self.take_data(rest, address) if rest else None

    def send_gone(self, code, key, address):
        gone = struct.pack("<B8sB", GONE, key[:8], REASONS.index(code))
        self.send_datagram(gone, address)

    # Connect tokens.

    def admits_ticket(self, key, address):
        """Whether a ticket may come from an address that is not proved."""
        path = self.session.path if self.session else None
        if not self.security.uses_token:
            return False
        if self.session is not None and self.session.key == key:
            return path is not None and path.address == address
        return path is None or path.address != address

    def take_ticket(self, key, epoch, part, address, is_unproved):
        """Opens a path with a connect token, or counts another datagram with the same one."""
        if part is None or part[0] != 1:
            return
        path = self.session.path if self.session else None
        if path is None:
            self.open_path(key, epoch, part[1], address, is_unproved)
        elif part[1] == path.first and not path.heard:
            if is_unproved and path.allowance is not None:
                path.allowance += UNPROVED
            elif not is_unproved:
                path.address, path.allowance = address, None
                path.epoch = max(path.epoch, epoch)
            path.owes_ping = True

    def open_path(self, key, epoch, message, address, is_unproved):
        handshake = self.security.begin(key, False)
        try:
            answer = handshake.second(message)
            self.security.backend.use(handshake.ticket, key)
        except Refused as refusal:
            return self.send_gone(refusal.reason, key, address)
        except Broken:
            return None  # nobody who has the token made the message
        self.session = self.session or self.make_session(key)
        path = self.session.path = Datagrams(
            self.send_datagram, key, False, address=address, epoch=epoch, handshake=handshake)
        path.first, path.part, path.keys = message, answer, handshake.keys
        path.allowance = UNPROVED if is_unproved else None
        return self.session.take_opening(handshake.payload)

    def take_sealed_hello(self, key, epoch, cookie, tag, part, hello, address):
        path = self.session.path if self.session else None
        if part is not None and part[0] == 1 and not self.security.uses_token and (
                path is None or path.may_begin_again and part[1] != path.first):
            path = self.answer_first(key, epoch, part[1], hello, address)
        if path is None:
            return
        if part is not None and part == (1, path.first) and path.may_begin_again:
            path.owes_ping = True  # the answer goes before it
        if path.securing and part is not None:
            if part == (1, path.first):
                self.send_datagram(path.handshake_part(2, path.part), address)
            elif part[0] == 3:
                path.handshake.end(part[1])
                path.keys, path.address = path.handshake.keys, address
        if path.keys is not None and tag == path.keys.tag(key, epoch, cookie):
            path.move(address, epoch)

    def answer_first(self, key, epoch, message, hello, address):
        """Opens a path with the first message of a handshake, or opens it again if its initiator
        knows this side's key."""
        handshake = self.security.begin(key, False)
        answer = handshake.second(message, hello)
        old = self.session.path if self.session else None
        if old is not None:
            if handshake.keys is None or handshake.keys.peer != old.keys.peer:
                return old
            old.abandon(self.session.channels)
        self.session = self.session or self.make_session(key)
        path = self.session.path = Datagrams(
            self.send_datagram, key, False, address=address, handshake=handshake,
            epoch=0 if handshake.keys is None else epoch)
        path.first, path.part, path.keys = message, answer, handshake.keys
        if handshake.keys is not None:
            self.session.take_opening(handshake.payload)
        return path

    # The game.

    def granted(self, session):
        self.send(SYNC, bytes([SEAT]) + seat(AWAY))
        self.send(WORDS, playing_word(self.local.name, session.peer.name))
        self.next_tick = time.monotonic()
        self.ends_at = self.next_tick + self.options.seconds

    def take_inputs(self, reader):
        fraction = 1 + (time.monotonic() - self.next_tick) * 60 if self.next_tick else 0
        self.game.receive(reader, min(max(fraction, 0), 1))

    def take_keyframe(self, reader):
        reader.end()  # an empty one is a request
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
            if not self.game.wants_keyframe:  # the last inputs must arrive
                self.send(SYNC, bytes([RUNS]) + self.game.message())
            self.send(WORDS, ended_word(self.game.rink))
            self.session.end("finished")

    def summary(self):
        game = self.game
        return super().summary() | vars(game.tally) | dict(
            inputs=game.inputs, missed=game.missed, score=game.rink.score)
