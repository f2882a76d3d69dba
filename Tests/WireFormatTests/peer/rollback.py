"""Rollback play: the host, which confirms each tick, and a client that plays confirmed ticks."""

import math

from inputs import (
    CONTEXT, KEPT, NOBODY, TICKS, BitReader, BitWriter, Buffer, Header, held, merged,
    read_keyframe)
from rink import AWAY, HOME, Rink, Tally
from wire import Broken

AHEAD = 120  # The host stores inputs up to this many ticks ahead.
TIMING = 4  # Ticks between two timing fields.
PATIENCE = 30  # A client requests a keyframe after dropping this many packets.


class Decider:
    """The host's side: late or missing inputs of the client delay nothing."""

    def __init__(self, rink):
        self.rink, self.tally, self.tick = rink, Tally(), rink.tick
        self.decided = [Buffer(self.tick), Buffer(self.tick)]
        self.sent = Buffer(self.tick)  # the inputs that the client sent
        self.carried = None  # the request in an input that arrived late
        self.acknowledged = self.base = self.tick
        self.owes_keyframe, self.inputs, self.missed = True, 0, 0
        self.margin = self.deviation = 0.0
        self.samples = 0

    def decide(self, own):
        """Simulates a tick with home's input."""
        if self.sent.start < self.sent.end <= self.tick:
            self.missed += 1
        data = self.sent.at(self.tick)
        if self.carried is not None:
            data, self.carried = merged(self.carried, data), None
        for buffer, decided in zip(self.decided, (own, data)):
            buffer.append(decided)
        self.tally.step(self.rink, (own, data))
        self.tick += 1

    # To the client.

    @property
    def wants_keyframe(self):
        return self.owes_keyframe or self.tick - self.acknowledged > KEPT - CONTEXT

    def keyframe_sent(self):
        self.owes_keyframe, self.acknowledged, self.base = False, self.tick, self.tick

    def message(self):
        """The inputs after the last that the client has."""
        first = self.acknowledged
        count = min(self.tick - first, TICKS)
        timing = None
        if self.samples and self.tick % TIMING == 0:
            timing = min(int(self.deviation * 16), 255), int(self.margin * 16)
        context = self.decided[HOME].context(first, self.base)
        header = Header(
            first, count, self.sent.end - first, timing,
            (self.tick - first, self.rink.hash & 0xFFFFFFFF), context)
        bits = BitWriter()
        self.decided[HOME].write_run(first, count, context, bits)
        is_news = self.is_news(first, count)
        bits.write(is_news, 1)
        if is_news:
            self.decided[AWAY].write_run(first, count, context, bits)
        return header.bytes + bits.bytes

    def is_news(self, first, count):
        """Whether the confirmed inputs of the client differ from those that it sent."""
        if not self.sent.oldest <= first <= first + count <= self.sent.end:
            return count > 0
        return self.sent.run(first, count) != self.decided[AWAY].run(first, count)

    # From the client.

    def receive(self, reader, fraction):
        """Receives inputs; `fraction` is the part of the current tick that has passed."""
        header = Header.read(reader)
        first = header.first_near(self.sent.end)
        if first > self.sent.end:
            if header.context or first >= self.tick + AHEAD:
                return  # sent before the keyframe
            self.sent = Buffer(first)
        bits = BitReader(reader)
        run = self.sent.read_run(first, header.count, header.context, bits)
        bits.end()
        reader.end()
        if first + header.next > self.tick:
            raise Broken(f"tick {first + header.next} is acknowledged at {self.tick}")
        self.acknowledged = max(self.acknowledged, first + header.next)
        before = self.sent.end
        if not self.sent.take(run, first, self.tick + AHEAD):
            raise Broken(f"inputs from {first} on that contradict those before")
        if self.sent.end > before:
            self.note(before, self.sent.end - self.tick - fraction)

    def note(self, before, margin):
        self.inputs += self.sent.end - before
        for tick in range(before, min(self.sent.end, self.tick)):
            late = self.sent.at(tick)
            if late != held(late):
                self.carried = late if self.carried is None else merged(self.carried, late)
        weight = max(1 / 16, 1 / (self.samples + 1))
        difference = margin - self.margin
        self.margin += difference * weight
        self.deviation += ((abs(difference) if self.samples else 0) - self.deviation) * weight
        self.samples = min(self.samples + 1, 16)


class Follower:
    """The client's side, without prediction: it plays confirmed ticks, and sends its own inputs
    slightly ahead of the host."""

    def __init__(self, violation):
        self.violation, self.tally, self.seat = violation, Tally(), AWAY
        self.rink, self.own, self.decided = None, None, []
        self.tick = self.acknowledged = 0
        self.own_hashes, self.told_hashes = {}, {}
        self.hashes = self.keyframes = self.overruled = self.unusable = 0
        self.margin, self.buffer = None, 1.0

    # Timing.

    def speed(self):
        """The factor by which ticks have to be faster than 60 per second."""
        if self.margin is None:
            return 1.0
        lead = self.margin - self.buffer
        most = 0.2 if abs(lead) > 1 else 0.02
        return 1 - min(max(lead / 20, -most), most)

    @property
    def may_advance(self):
        """Whether the host would store an input for the next tick."""
        return self.own.end - self.tick < AHEAD // 2

    # To the host.

    def message(self):
        """A packet with all inputs that the host has not acknowledged."""
        first = max(self.acknowledged, self.own.oldest)
        count, context = min(self.own.end - first, TICKS), self.own.context(first)
        header, bits = Header(first, count, self.tick - first, context=context), BitWriter()
        self.own.write_run(first, count, context, bits)
        return header.bytes + bits.bytes

    # From the host.

    def receive_keyframe(self, reader, trip):
        """Receives a keyframe; `trip` is the round-trip time in seconds."""
        tick, rink = read_keyframe(reader, Rink.read)
        self.keyframes += 1
        if self.rink is not None and tick <= self.tick:
            if self.own_hashes.get(tick, rink.hash) != rink.hash:
                self.violation(f"a keyframe of tick {tick} that is not what was played")
            return
        if self.own is None or not self.own.oldest <= tick <= self.own.end:
            self.own, self.acknowledged = Buffer(tick), tick
            for _ in range(min(math.ceil(trip * 60) + 1, 20)):
                self.own.append(NOBODY)
        self.rink, self.tick, self.unusable = rink, tick, 0
        self.decided = [Buffer(tick), Buffer(tick)]
        self.own_hashes, self.told_hashes = {tick: rink.hash}, {}

    def receive(self, reader):
        """Receives confirmed inputs; returns whether the packet was usable."""
        header = Header.read(reader)
        first = header.first_near(self.tick)
        if not self.decided[HOME].start <= first <= self.tick:
            self.unusable += 1
            return False
        bits = BitReader(reader)
        runs = [self.read_run(seat, first, header, bits) for seat in (HOME, AWAY)]
        bits.end()
        reader.end()
        if first + header.next > self.own.end:
            raise Broken(f"input {first + header.next} is acknowledged, {self.own.end} are there")
        self.acknowledged, self.unusable = max(self.acknowledged, first + header.next), 0
        self.take_timing(header.timing)
        self.play(first, runs)
        while self.own.end <= self.tick:
            self.own.append(self.own.at(self.own.end))  # too late to be used
        if header.hash is not None:
            self.told_hashes[first + header.hash[0]] = header.hash[1]
        self.compare()
        return True

    def read_run(self, seat, first, header, bits):
        """The confirmed inputs of a seat; a bit says whether this side's own differ from those that
        it sent."""
        if seat != self.seat or bits.read(1):
            return self.decided[seat].read_run(first, header.count, header.context, bits)
        if not self.own.oldest <= first <= first + header.count <= self.own.end:
            raise Broken(f"my inputs from {first} on, as I never sent them")
        return self.own.run(first, header.count)

    def take_timing(self, timing):
        if timing is not None:
            self.margin = timing[1] / 16
            self.buffer = min(1 + 2 * timing[0] / 16, 12)

    def play(self, first, runs):
        for buffer, run in zip(self.decided, runs):
            if not buffer.take(run, first, math.inf):
                self.violation(f"inputs from {first} on were decided twice")
        while self.tick < self.decided[HOME].end:
            inputs = [buffer.at(self.tick) for buffer in self.decided]
            if self.tick >= self.own.end or inputs[self.seat] != self.own.at(self.tick):
                self.overruled += 1
            self.tally.step(self.rink, inputs)
            self.tick += 1
            self.own_hashes[self.tick] = self.rink.hash
            self.own_hashes.pop(self.tick - KEPT, None)

    def compare(self):
        for tick in [tick for tick in self.told_hashes if tick <= self.tick]:
            told, mine = self.told_hashes.pop(tick), self.own_hashes.get(tick)
            if mine is None:
                continue  # no longer stored
            self.hashes += 1
            if mine & 0xFFFFFFFF != told:
                self.violation(f"another hash at tick {tick}")
        if len(self.told_hashes) > KEPT:
            raise Broken("hashes of ticks that never come")
