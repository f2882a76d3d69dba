"""The encoding of rollback play: runs of inputs, the header of input packets, keyframes."""

import struct

from wire import Broken, Reader, varint

PAUSE, RESUME, NEXT_MATCH, RESTART = 1, 2, 3, 4
NOBODY = (0, 0, 0)  # x and y in half millimetres; 1 if a player is present, plus twice the request
MOST_X, MOST_Y = 1948, 1038
CONTEXT, TICKS, TICK_RANGE, KEPT = 12, 127, 2_048, 256
TICKS_PER_SECOND = 60
INPUTS, STATE_REPORT, KEYFRAME, DEPARTURE, SEAT = range(5)


def check_input(data):
    x, y, rest = data
    if abs(x) > MOST_X or abs(y) > MOST_Y or not 0 <= rest <= 2 * RESTART + 1:
        raise Broken(f"an input {data}")
    if not rest & 1 and (x, y) != (0, 0):
        raise Broken(f"nobody's place {x}, {y}")
    return data


def held(data):
    """The input that is assumed to follow: the same position without a request."""
    return (*data[:2], data[2] & 1)


def merged(data, later):
    """Two inputs merged: the later position, and the later request or else the earlier."""
    return later if later[2] > 1 else (*later[:2], later[2] & 1 | data[2] & ~1)


def zigzag(value):
    return 2 * value if value >= 0 else -2 * value - 1


def unzigzag(value):
    return -(value >> 1) - 1 if value & 1 else value >> 1


class BitWriter:
    """Bits, from the most significant of each byte."""

    def __init__(self):
        self.text = []

    def write(self, value, count):
        if count:
            self.text.append(format(value, f"0{count}b"))

    @property
    def bytes(self):
        text = "".join(self.text)
        text += "0" * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big") if text else b""


class BitReader:
    def __init__(self, reader):
        self.reader, self.current, self.left = reader, 0, 0

    def read(self, count):
        value = 0
        while count > 0:
            if self.left == 0:
                self.current, self.left = self.reader.byte(), 8
            part = min(count, self.left)
            self.left -= part
            value = value << part | self.current >> self.left & (1 << part) - 1
            count -= part
        return value

    def end(self):
        if self.current & (1 << self.left) - 1:
            raise Broken("bits behind the last that are not 0")


class Field:
    """The prediction state of one field."""

    __slots__ = ("last", "slope", "size", "by_last", "by_line")

    def __init__(self):
        self.last = self.slope = self.size = self.by_last = self.by_line = 0

    @property
    def predicted(self):
        return self.last + self.slope if self.by_line < self.by_last else self.last

    @property
    def order(self):
        return min(30, (self.size >> 3).bit_length())

    def note(self, value):
        most, change = 1 << 34, value - self.last
        self.size += min(abs(value - self.predicted), most) - (self.size >> 2)
        self.by_last += min(abs(change), most) - (self.by_last >> 3)
        self.by_line += min(abs(change - self.slope), most) - (self.by_line >> 3)
        self.slope, self.last = change, value


class Coder:
    """Codes runs of one player's inputs, given the inputs that both sides have."""

    def __init__(self, context=()):
        self.fields = [Field() for _ in NOBODY]
        for data in context:
            self.note(data)

    def note(self, data):
        for field, value in zip(self.fields, data):
            field.note(value)

    def write(self, run, bits):
        changing = [
            any(data[place] != field.last for data in run)
            for place, field in enumerate(self.fields)]
        for flag in changing:
            bits.write(flag, 1)
        for data in run:
            for field, value, flag in zip(self.fields, data, changing):
                if flag:
                    self.write_number(zigzag(value - field.predicted), field.order, bits)
                field.note(value)

    @staticmethod
    def write_number(number, order, bits):
        high = (number >> order) + 1
        bits.write(high, 2 * high.bit_length() - 1)
        bits.write(number & (1 << order) - 1, order)

    def read(self, count, bits):
        changing = [bits.read(1) for _ in self.fields]
        run = []
        for _ in range(count):
            data = []
            for field, flag in zip(self.fields, changing):
                value = field.last
                if flag:
                    value = field.predicted + unzigzag(self.read_number(field.order, bits))
                if not -1 << 31 <= value < 1 << 31:
                    raise Broken(f"a number {value} in an input")
                field.note(value)
                data.append(value)
            run.append(check_input(tuple(data)))
        return run

    @staticmethod
    def read_number(order, bits):
        length = 1
        while not bits.read(1):
            length += 1
            if length + order > 36:
                raise Broken("a difference of more than 36 bits")
        high = 1 << length - 1 | bits.read(length - 1)
        return (high - 1) << order | bits.read(order)


class Buffer:
    """The last 256 inputs of one player, without a gap."""

    def __init__(self, start):
        self.start = self.end = start
        self.kept = {}

    @property
    def oldest(self):
        return max(self.start, self.end - KEPT)

    def append(self, data):
        self.kept[self.end] = data
        self.end += 1
        self.kept.pop(self.end - KEPT - 1, None)

    def at(self, tick):
        """The input of a tick, or the last one without its request if it is missing."""
        if tick < self.end:
            return self.kept.get(tick, NOBODY)
        return held(self.kept[self.end - 1]) if self.end > self.start else NOBODY

    def run(self, first, count):
        return [self.kept[tick] for tick in range(first, first + count)]

    def context(self, first, base=None):
        """The length of the context of a run that starts at `first`, if the other side does not
        have the inputs before `base`."""
        return min(first - (self.start if base is None else base), CONTEXT)

    def write_run(self, first, count, context, bits):
        Coder(self.run(first - context, context)).write(self.run(first, count), bits)

    def read_run(self, first, count, context, bits):
        """Decodes a run that starts at or before the end of this buffer, without storing it."""
        if not self.oldest + context <= first <= self.end:
            raise Broken(f"a run from {first} on, with {context} before it, after {self.end}")
        return Coder(self.run(first - context, context)).read(count, bits)

    def take(self, run, first, limit):
        """Stores the new inputs; returns whether the others equal the stored ones."""
        same = True
        for tick, data in enumerate(run, first):
            if tick == self.end and tick < limit:
                self.append(data)
            elif self.oldest <= tick < self.end:
                same = same and self.kept[tick] == data
        return same


class Header:
    """The header of an input packet. `timing` is a mean and its deviation in sixteenths of a tick;
    `hash` is the distance from the first tick, and 32 bits."""

    def __init__(self, first, count, next, timing=None, hash=None, context=CONTEXT):
        self.first, self.count, self.next = first % TICK_RANGE, count, next
        self.timing, self.hash, self.context = timing, hash, context

    def first_near(self, tick):
        ahead = (self.first - tick) % TICK_RANGE
        if ahead >= TICK_RANGE // 2 and tick >= TICK_RANGE - ahead:
            ahead -= TICK_RANGE
        return tick + ahead

    @property
    def bytes(self):
        data = struct.pack("<H", self.first | min(self.count, 31) << 11)
        if self.count >= 31:
            data += bytes([self.count - 31])
        flags = (self.timing is not None) | (self.hash is not None) << 1
        flags |= (self.context != CONTEXT) << 2
        data += varint(zigzag(self.next) << 1 | (flags != 0))
        if flags:
            data += bytes([flags])
        if flags & 1:
            data += struct.pack("<Bh", *self.timing)
        if flags & 2:
            data += varint(zigzag(self.hash[0])) + struct.pack("<I", self.hash[1])
        if flags & 4:
            data += bytes([self.context])
        return data

    @classmethod
    def read(cls, reader):
        (word,) = reader.unpack("H")
        count = word >> 11
        count += reader.byte() if count == 31 else 0
        if count > TICKS:
            raise Broken(f"{count} ticks in a packet")
        folded = reader.varint()
        header = cls(word & 0x7FF, count, cls.distance(folded >> 1))
        if not folded & 1:
            return header
        flags = reader.byte()
        if not 1 <= flags <= 7:
            raise Broken(f"flags {flags} of inputs")
        if flags & 1:
            header.timing = reader.unpack("Bh")
        if flags & 2:
            header.hash = (cls.distance(reader.varint()), *reader.unpack("I"))
        if flags & 4:
            header.context = reader.byte()
            if header.context >= CONTEXT:
                raise Broken(f"a context of {header.context}")
        return header

    @staticmethod
    def distance(folded):
        distance = unzigzag(folded)
        if abs(distance) > 1 << 20:
            raise Broken(f"a distance of {distance} ticks")
        return distance


def keyframe(rink):
    return struct.pack("<QBQ", rink.tick, 2, rink.hash) + rink.bytes


def read_keyframe(reader, read_rink):
    """The state, and the number of its tick: a game may have a tick number of its own."""
    tick, players, told = reader.unpack("QBQ")
    rink = read_rink(reader)
    reader.end()
    if tick >= 1 << 62 or players != 2 or rink.hash != told:
        raise Broken(f"a keyframe of tick {tick}, {players} players, hash {told}")
    return tick, rink


def seat(player):
    return struct.pack("<BH", player, TICKS_PER_SECOND)


def read_seat(reader):
    """The player, and the number of ticks per second."""
    found = reader.unpack("BH")
    reader.end()
    return found


def read_state_report(data):
    """Whether the report is a reply, its tick, hashes, and entities as (number, fields)."""
    reader = Reader(data)
    answers, tick, count = reader.unpack("BQB")
    if answers > 1 or not 1 <= count <= min(64, tick + 1):
        raise Broken(f"a report of {count} hashes of tick {tick}")
    hashes, entities, room = reader.unpack(f"{count}I"), [], 7_168
    entity_count = reader.varint()
    if entity_count > 4_096:
        raise Broken(f"a report of {entity_count} entities")
    for _ in range(entity_count):
        number, fields = reader.varint(), reader.varint()
        room -= fields
        if room < 0:
            raise Broken("a report of more than 7168 fields")
        entities.append((number, reader.unpack(f"{fields}q")))
    reader.end()
    return answers, tick, hashes, entities
