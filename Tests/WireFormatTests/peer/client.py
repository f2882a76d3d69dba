"""The client, which requests a seat and plays."""

import os
import socket
import time

from inputs import KEYFRAME, MOST_X, PAUSE, RESUME, TICKS_PER_SECOND, read_seat
from links import GONE, HANDSHAKE, HELLO, RETRY, Datagrams, Stream
from play import ENDED, PLAYING, Player, finish_word, read_ended, read_playing
from rink import AWAY, HOME
from rollback import PATIENCE, Follower
from session import REASONS, REQUEST, Session
from game_peer import INPUTS, SYNC, WORDS, Peer
from wire import Broken

APPLICATION = ("airhockey", 4)
OFF_RINK = "place"


class Client(Peer):
    """Requests a seat, and plays."""

    role = "client"

    def __init__(self, options):
        super().__init__(options)
        self.game, self.player = Follower(self.violation), None
        self.asked, self.ended, self.seat, self.names = [], None, None, []
        self.takers = {INPUTS: self.take_inputs, SYNC: self.read_sync, WORDS: self.take_word}
        address = (socket.gethostbyname(options.host), options.port)
        self.session = Session(
            self, self.local, os.urandom(16), is_initiator=True, security=self.security)
        if options.transport != "tcp":
            self.bind_datagrams(("", 0))
            self.session.path = Datagrams(
                self.send_datagram, self.session.key, True, addresses=[address],
                handshake=self.security and self.begin_handshake())
            if self.security and self.security.host:
                self.session.path.renew = self.begin_handshake
        if options.transport != "udp":
            self.session.add_stream(Stream(socket.create_connection(address, timeout=10)))

    def begin_handshake(self, hello=b""):
        session = self.session
        return self.security.begin(session.key, True, session.opening, hello)

    def take_datagram(self, data, address):
        path = self.session.path
        if data[0] == RETRY:
            if path.take_retry(data, address) and self.security is None:
                self.session.say(REQUEST, self.session.request, path)
        elif data[0] == GONE:
            if data[1:9] == self.session.key[:8] and not self.session.open:
                self.session.reason = REASONS[data[9]]
        elif data[0] == HANDSHAKE and self.security:
            packet = self.session.take_answer(data, address)
            if packet:
                self.take_data(packet, address)
        elif data[0] < HELLO:
            self.take_data(data, address)

    def granted(self, session):
        peer = session.peer
        self.check(peer.identifier != self.local.identifier, "the host has my id")
        self.check(peer.flags <= 1, f"flags {peer.flags}")
        self.check((peer.application, peer.version) == APPLICATION, f"{peer.application}")
        garbage = b""
        if self.options.garbage != OFF_RINK:
            garbage = bytes.fromhex(self.options.garbage or "")
        if garbage and session.stream is not None:
            session.stream.unsent += garbage
        elif garbage:
            self.send_datagram(garbage, session.path.address)

    # The game.

    def take_seat(self, reader):
        seat, rate = read_seat(reader)
        self.check(rate == TICKS_PER_SECOND, f"{rate} ticks per second")
        self.check(self.seat is None, "two seats")
        if seat not in (HOME, AWAY):
            raise Broken(f"a seat {seat}")
        self.seat, self.game.seat, self.player = seat, seat, Player(seat)

    def take_keyframe(self, reader):
        self.check(self.seat is not None, "a keyframe before the seat")
        self.game.receive_keyframe(reader, (self.session.best or 0) / 1_000)
        if self.next_tick is not None or self.session.reason is not None:
            return
        self.check(self.game.rink.score == [0, 0], f"a client joins at {self.game.rink.score}")
        self.next_tick = time.monotonic()
        # Pause the match for a tenth of the time, then request a second keyframe, and end the
        # session when the time is over.
        shares = [
            (0.5, lambda: self.player.requests.append(PAUSE)),
            (0.6, lambda: self.player.requests.append(RESUME)),
            (0.7, self.request_keyframe), (1, lambda: self.send(WORDS, finish_word()))]
        seconds = self.options.seconds
        self.asked = [(self.next_tick + share * seconds, ask) for share, ask in shares]

    def request_keyframe(self):
        self.send(SYNC, bytes([KEYFRAME]))

    def take_report(self):
        self.request_keyframe()

    def take_inputs(self, reader):
        if self.game.rink is None or self.ended is not None:
            return  # channels overtake each other: no keyframe yet, or the last word was faster
        if not self.game.receive(reader) and self.game.unusable % PATIENCE == 0:
            self.request_keyframe()

    def take_word(self, reader):
        self.check(self.ended is None, "two last words")
        word = reader.byte()
        if word == ENDED:
            self.ended = read_ended(reader)
        elif word == PLAYING:
            self.names = read_playing(reader)
        else:
            raise Broken(f"a word {word}, which a host does not send")

    def tick(self, now):
        while self.asked and now >= self.asked[0][0]:
            self.asked.pop(0)[1]()
        self.speed = self.game.speed()
        if self.options.garbage == OFF_RINK:
            self.game.own.append((MOST_X + 1, 0, 1))
        elif self.game.may_advance:
            self.game.own.append(self.player.input(self.game.rink))
        self.send(INPUTS, self.game.message())

    def compare_ended(self):
        """Checks that the last word states what was played."""
        rink = self.game.rink
        if self.ended is None or rink is None:
            return self.violation("finished without a last word")
        is_same = self.ended == (rink.match, rink.score)
        return self.check(is_same, f"ended with {self.ended}, not {vars(rink)}")

    @property
    def score(self):
        if self.ended is not None:
            return self.ended[1]
        return self.game.rink.score if self.game.rink else None

    def summary(self):
        game = self.game
        if self.session.reason == "finished":
            self.compare_ended()
        return super().summary() | vars(game.tally) | dict(
            hashes=game.hashes, keyframes=game.keyframes,
            overruled=game.overruled, score=self.score, seat=self.seat, names=self.names)
