#!/usr/bin/env python3
"""Reads the messages of a group's leader, roster and ledger, written from Carom.docc/WireFormat.md.

`groups.py FILE` reads the vectors of FILE, encodes each one again, and prints its fields in a
line."""

import struct
import sys

from wire import Broken, Reader, text, varint

INDEX_LIMIT = 1 << 62
MEMBERS, ENTRIES, EVENT, PART, SUBMITTERS = 8192, 1024, 16_384, 32_768, 4096
JOIN, WELCOME, REFUSE, APPEND, ACKNOWLEDGE, SUBMIT = range(1, 7)
SNAPSHOT, PART_OF_IT, RECEIVED, LEAVE, REMOVE, WITHHOLD = range(7, 13)
KINDS = (
    "join welcome refuse append acknowledge submit snapshot part received leave remove withhold"
).split()


def group_id(name):
    """The 64-bit FNV-1a hash of a group's name."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


class Fields:
    """Reads fields from bytes, writes the same fields to other bytes, and describes them. Each
    method reads one kind of field."""

    def __init__(self, data):
        self.reader, self.written, self.words = Reader(data), bytearray(), []

    def note(self, data, word):
        self.written += data
        self.words.append(str(word))

    def number(self, layout):
        (value,) = self.reader.unpack(layout)
        self.note(struct.pack("<" + layout, value), value)
        return value

    def index(self, limit=INDEX_LIMIT, low=0):
        value = self.reader.varint()
        if not low <= value <= limit:
            raise Broken(f"{value} is not {low} to {limit}")
        self.note(varint(value), value)
        return value

    def count(self):
        """A count without a limit."""
        value = self.reader.varint()
        self.note(varint(value), value)

    def id(self):
        value = self.reader.take(16)
        self.note(value, value.hex())
        return value

    def incarnation(self):
        (value,) = self.reader.unpack("Q")
        self.note(struct.pack("<Q", value), f"{value:016x}")
        return value

    def name(self):
        value = self.reader.text(0, 63)
        self.note(text(value), value)

    def bytes(self, limit):
        length = self.reader.varint()
        if length > limit:
            raise Broken(f"{length} bytes, and {limit} are allowed")
        value = self.reader.take(length)
        self.note(varint(length) + value, value.hex() or "-")

    def flag(self):
        value = self.reader.byte()
        if value > 1:
            raise Broken(f"{value} is neither true nor false")
        self.note(bytes([value]), value)
        return value

    def source(self):
        return self.id(), self.incarnation()

    def position(self):
        self.index()
        self.incarnation()

    def event(self):
        self.source()
        self.index(low=1)
        self.bytes(EVENT)


def read_roster(fields):
    fields.index()
    leader, ids = fields.id(), []
    for _ in range(fields.index(MEMBERS)):
        ids.append(fields.id())
        fields.incarnation()
        fields.name()
    if ids != sorted(set(ids)) or leader not in ids:
        raise Broken("members out of order, or without their leader")


def read_ballot(fields):
    fields.incarnation()
    fields.id()
    fields.count()
    fields.count()
    fields.index()
    if fields.flag():
        fields.index(0xFFFFFFFF)
        fields.index(1000)
        fields.index(0xFFFFFFFF)


def read_ledger(fields):
    kind = fields.reader.byte()
    if not JOIN <= kind <= WITHHOLD:
        raise Broken(f"kind {kind}")
    fields.note(bytes([kind]), KINDS[kind - 1])
    if kind >= APPEND:
        fields.number("I")
    if kind == JOIN:
        fields.number("I")
        fields.incarnation()
        fields.index()
        fields.position()
    elif kind == WELCOME:
        fields.number("I")
        fields.number("I")
        if fields.number("B") > 2:
            raise Broken("an unknown start")
        fields.index()
    elif kind == REFUSE:
        fields.id()
    elif kind == APPEND:
        fields.index(low=1)
        fields.index()
        for _ in range(fields.index(ENTRIES)):
            fields.event()
            fields.id()
            fields.incarnation()
    elif kind in (ACKNOWLEDGE, RECEIVED):
        fields.index()
    elif kind == SUBMIT:
        fields.flag()
        for _ in range(fields.index(ENTRIES)):
            fields.event()
    elif kind == SNAPSHOT:
        fields.position()
        fields.index()
    elif kind == PART_OF_IT:
        fields.bytes(PART)


def read_table(fields):
    """The table at the beginning of a snapshot."""
    sources = []
    for _ in range(fields.index(SUBMITTERS)):
        sources.append(fields.source())
        fields.index()
        fields.index()
        fields.id()
    if sources != sorted(set(sources)):
        raise Broken("submitters out of order")


def read(name, data):
    readers = {"roster": read_roster, "ballot": read_ballot, "table": read_table}
    fields = Fields(data)
    readers.get(name.split()[0], read_ledger)(fields)
    fields.reader.end()
    if bytes(fields.written) != data:
        raise Broken(f"{name} is encoded otherwise")
    return fields.words


def is_refused(name, data):
    try:
        read(name, data)
        return False
    except Broken:
        return True


def vectors(lines):
    """The names and bytes in a file of vectors."""
    found, name = {}, None
    for line in lines:
        code = line.split("#")[0]
        if code.startswith(" "):
            found[name] += bytes.fromhex(code.strip())
        elif ":" in code:
            name = code.rpartition(":")[0]
            found[name] = b""
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = vectors(file)
    for name, data in found.items():
        print(f"{name}:", *read(name, data))
        for count in range(len(data)):
            if not is_refused(name, data[:count]):
                sys.exit(f"{name} is read without its end")
    print(f"groups: Votes is {group_id('Votes'):016x}")


if __name__ == "__main__":
    main()
