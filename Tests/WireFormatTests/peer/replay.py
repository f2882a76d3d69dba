#!/usr/bin/env python3
"""Plays a replay of air hockey, written from Carom.docc/WireFormat.md. It compares every hash and
keyframe, encodes the inputs again, and prints one line of JSON."""

import json
import sys

from inputs import NOBODY, BitReader, BitWriter, Coder
from rink import Rink, Tally
from wire import Broken, Reader

KEYFRAME, INPUTS, END = 1, 2, 3


class Replay:
    def __init__(self, data):
        self.reader, self.violations = Reader(data), []
        self.rink, self.coders, self.start = None, None, 0
        self.hashes = self.keyframes = 0
        self.ended, self.tally = False, Tally()

    def check(self, holds, what):
        if not holds and len(self.violations) < 20:
            self.violations.append(f"tick {self.start + self.tally.ticks}: {what}")

    def play(self):
        magic, version, players, fields, rate, self.start = self.reader.unpack("4sBBBHQ")
        self.check(self.reader.text(0, 255) == "airhockey 2", "a replay of another game")
        self.check((magic, version) == (b"CRPL", 1), "no replay")
        self.check((players, fields, rate) == (2, len(NOBODY), 60), "no air hockey")
        takers = {KEYFRAME: self.take_keyframe, INPUTS: self.take_inputs, END: self.take_end}
        while self.reader.left and not self.ended and not self.violations:
            kind = self.reader.byte()
            body = Reader(self.reader.take(self.reader.varint()))
            if kind not in takers or self.rink is None and kind != KEYFRAME:
                raise Broken(f"a block {kind}")
            takers[kind](body)
            body.end()
        self.reader.end()

    def take_keyframe(self, body):
        (told,) = body.unpack("Q")
        there = Rink.read(body)
        self.keyframes += 1
        self.check(there.hash == told, "a keyframe with another hash")
        if self.rink is None:
            self.rink = there
        self.check(there.bytes == self.rink.bytes, "a keyframe of another state")
        self.coders = [(Coder(), Coder()) for _ in range(2)]

    def take_inputs(self, body):
        count = body.byte()
        self.check(1 <= count <= 120, f"{count} ticks in a block")
        begin, bits, again = body.at, BitReader(body), BitWriter()
        runs = [reading.read(count, bits) for reading, _ in self.coders]
        bits.end()
        for (_, writing), run in zip(self.coders, runs):
            writing.write(run, again)
        self.check(again.bytes == body.data[begin : body.at], "inputs that are coded otherwise")
        for inputs in zip(*runs):
            self.tally.step(self.rink, inputs)
        (told,) = body.unpack("I")
        self.compare(told, 32)

    def take_end(self, body):
        self.check(body.varint() == self.tally.ticks, "another count of ticks")
        (told,) = body.unpack("Q")
        self.compare(told, 64)
        self.ended = True

    def compare(self, told, bits):
        self.hashes += 1
        self.check(self.rink.hash & (1 << bits) - 1 == told, "another hash")

    def summary(self):
        return vars(self.tally) | dict(
            hashes=self.hashes, keyframes=self.keyframes, complete=self.ended,
            violations=self.violations)


def main():
    with open(sys.argv[1], "rb") as file:
        replay = Replay(file.read())
    try:
        replay.play()
    except Broken as error:
        replay.check(False, str(error))
    print(json.dumps(replay.summary()))
    return 1 if replay.violations else 0


if __name__ == "__main__":
    sys.exit(main())
