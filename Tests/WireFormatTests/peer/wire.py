"""The basic encodings: numbers, texts, and the frames of packets."""

import struct

UNRELIABLE, UNRELIABLE_SEQUENCED = 0, 1
RELIABLE_ORDERED, RELIABLE_UNORDERED, RELIABLE_SEQUENCED = 2, 3, 4
PIECE, NEXT = 5, 6
PADDING, PING, ACKNOWLEDGEMENT, CREDIT = range(4)
SESSION_CHANNEL = 64
PONG_HEAD = bytes([1, 0, 5, 0])
MESSAGE_LIMIT = 1 << 20


class Broken(Exception):
    """Bytes that the WireFormat page does not allow."""


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def text(string):
    return varint(len(string.encode())) + string.encode()


def expand(truncated, bits, near):
    """The number nearest to `near` with these lowest bits; the greater of two equally near."""
    window = 1 << bits
    number = near - near % window + truncated
    if number - near > window // 2 and number >= window:
        return number - window
    return number + window if near - number >= window // 2 else number


class Reader:
    """Reads from the front; raises Broken if the bytes do not fit."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Broken(f"{count} bytes wanted, {len(self.data) - self.at} left")
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self):
        return self.take(1)[0]

    def unpack(self, layout):
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def varint(self):
        value = 0
        for index in range(10):
            byte = self.byte()
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

    def rest(self):
        return self.take(len(self.data) - self.at)

    @property
    def left(self):
        return len(self.data) - self.at

    def end(self):
        if self.left:
            raise Broken(f"{self.left} bytes too many")


class Frame:
    """One frame of a packet: a message or a fragment of one, or another kind."""

    def __init__(self, kind, **fields):
        self.kind = kind
        self.__dict__.update(fields)

    @property
    def asks(self):
        """Whether the frame makes its carrier ack-eliciting."""
        return self.kind not in (ACKNOWLEDGEMENT, PADDING)

    @property
    def asks_in_datagram(self):
        """Whether the frame makes its data packet ack-eliciting: a pong does not."""
        if self.kind != "message":
            return self.asks
        is_whole = self.mode == UNRELIABLE and self.offset is None
        return not (is_whole and self.channel == SESSION_CHANNEL and self.payload[:4] == PONG_HEAD)


def read_frames(reader):
    """All frames to the end of the packet; raises Broken if any is malformed."""
    frames, previous = [], None
    while reader.left:
        lead = reader.byte()
        if lead & 0x80:
            frame, previous = read_message(lead, reader, previous)
        else:
            frame = read_other(lead, reader)
        frames.append(frame)
    return frames


def read_message(lead, reader, previous):
    """The frame, and the channel, mode and number that the next frame may continue."""
    mode, channel = lead >> 4 & 7, lead & 15
    if mode == NEXT:
        if previous is None or channel != min(previous[0], 15):
            raise Broken("a next message without one before it")
        channel, mode, number = previous[0], previous[1], (previous[2] + 1) & 0xFFFF
        return whole(channel, mode, number, reader), (channel, mode, number)
    if channel == 15:
        channel = reader.byte()
        if not 15 <= channel <= SESSION_CHANNEL:
            raise Broken(f"channel {channel}")
    if mode == PIECE:
        return read_piece(channel, reader), None
    if mode > PIECE:
        raise Broken(f"mode {mode}")
    if mode == UNRELIABLE:
        return whole(channel, mode, 0, reader), None
    (number,) = reader.unpack("H")
    if previous == (channel, mode, (number - 1) & 0xFFFF):
        raise Broken("a message that is not in the shortest form")
    return whole(channel, mode, number, reader), (channel, mode, number)


def whole(channel, mode, number, reader):
    payload = reader.take(reader.varint())
    return Frame(
        "message", channel=channel, mode=mode, number=number, total=len(payload), offset=None,
        payload=payload)


def read_piece(channel, reader):
    mode, number = reader.unpack("BH")
    total, offset, length = reader.varint(), reader.varint(), reader.varint()
    if mode > RELIABLE_SEQUENCED or total > MESSAGE_LIMIT or length < 1 or offset + length > total:
        raise Broken(f"a piece of {length} bytes at {offset} of {total}, mode {mode}")
    return Frame(
        "message", channel=channel, mode=mode, number=number, total=total, offset=offset,
        payload=reader.take(length))


def read_other(lead, reader):
    if lead == PADDING:
        if any(reader.rest()):
            raise Broken("padding that is not zeros")
        return Frame(PADDING)
    if lead == PING:
        return Frame(PING)
    if lead == ACKNOWLEDGEMENT:
        return read_acknowledgement(reader)
    if lead != CREDIT:
        raise Broken(f"a frame that begins with {lead}")
    channel = reader.byte()
    if channel > SESSION_CHANNEL:
        raise Broken(f"channel {channel}")
    return Frame(CREDIT, channel=channel, limit=reader.varint())


def read_acknowledgement(reader):
    """Ranges as (low, high), newest first."""
    high, held, further = reader.varint(), reader.byte(), reader.varint()
    if further > 63:
        raise Broken(f"{further} further ranges")
    low = high - reader.varint()
    ranges = [(low, high)]
    for _ in range(further):
        high = low - 2 - reader.varint()
        low = high - reader.varint()
        ranges.append((low, high))
    if low < 0:
        raise Broken("an acknowledgement below 0")
    return Frame(ACKNOWLEDGEMENT, ranges=ranges, held=held)


class FrameWriter:
    """Writes frames to a packet up to its length limit."""

    def __init__(self, limit, head=b""):
        self.limit, self.data, self.previous = limit, bytearray(head), None

    @property
    def room(self):
        return self.limit - len(self.data)

    def add(self, frame):
        if len(frame) > self.room:
            return False
        self.data += frame
        return True

    @staticmethod
    def lead(mode, channel):
        return bytes([0x80 | mode << 4 | min(channel, 15)])

    def message(self, channel, mode, number, payload):
        number &= 0xFFFF
        escape = bytes([channel]) if channel >= 15 else b""
        if mode != UNRELIABLE and self.previous == (channel, mode, (number - 1) & 0xFFFF):
            head = self.lead(NEXT, channel)
        elif mode == UNRELIABLE:
            head = self.lead(mode, channel) + escape
        else:
            head = self.lead(mode, channel) + escape + struct.pack("<H", number)
        if not self.add(head + varint(len(payload)) + payload):
            return False
        self.previous = None if mode == UNRELIABLE else (channel, mode, number)
        return True

    def piece(self, channel, mode, number, payload, offset, total):
        escape = bytes([channel]) if channel >= 15 else b""
        head = self.lead(PIECE, channel) + escape + struct.pack("<BH", mode, number & 0xFFFF)
        head += varint(total) + varint(offset) + varint(len(payload))
        if not self.add(head + payload):
            return False
        self.previous = None
        return True

    def ping(self):
        return self.add(bytes([PING]))

    def credit(self, channel, limit):
        return self.add(bytes([CREDIT, channel]) + varint(limit))

    def acknowledgement(self, ranges, held=0):
        """Writes all of `ranges`, newest first; there is room for them at the start of a packet."""
        low, high = ranges[0]
        frame = bytes([ACKNOWLEDGEMENT]) + varint(high) + bytes([held]) + varint(len(ranges) - 1)
        frame += varint(high - low)
        for below, above in ranges[1:]:
            frame += varint(low - above - 2) + varint(above - below)
            low = below
        return self.add(frame)


def hold_byte(seconds):
    """The code of the longest delay that is not longer than these seconds."""
    units = int(seconds * 1e6 / 16) + 32
    if units >= 8064:
        return 255
    exponent = units.bit_length() - 6
    return exponent << 5 | (units >> exponent) - 32


def hold_seconds(byte):
    return (((32 + (byte & 31)) << (byte >> 5)) - 32) * 16e-6
