"""The links: a stream of frames, and a datagram path with packet numbers and loss detection."""

import socket
import struct

from secure import TAG, following, seal, unseal
from wire import ACKNOWLEDGEMENT, Broken, FrameWriter, Reader, expand, hold_byte, hold_seconds
from wire import read_frames, varint

SESSION, CARRIER = 1, 3
KEY_CHANGE = 10
BODY_LIMIT, FIRST_BODY_LIMIT = 81_920, 4_096
CARRIER_LIMIT = 16_384
DATAGRAM_LIMIT = 1_200
HELLO, RETRY, GONE, HANDSHAKE = 0x80, 0x81, 0x82, 0x83
HELLO_LAYOUT = "<B4sH16sIBQ"
HELLO_LENGTH = struct.calcsize(HELLO_LAYOUT)


class Stream:
    """A stream, which carries session packets and numbered carriers."""

    kind = "tcp"

    def __init__(self, stream):
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.setblocking(False)
        self.socket, self.buffer, self.unsent = stream, b"", b""
        self.joined = self.ended = False
        self.records, self.sent, self.acknowledged = {}, 0, 0
        self.came, self.told, self.asking, self.asking_since = 0, 0, 0, None
        self.handshake, self.keys, self.held = None, None, None
        self.owner = None  # the key of the connection that has presented a ticket on the stream
        self.sealed, self.unsealed, self.plain = 0, 0, []
        self.lifetime = None  # of a key, in bodies

    @property
    def open(self):
        return self.joined and not self.ended

    def receive(self):
        try:
            data = self.socket.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.ended = not data
        self.buffer += data

    def bodies(self):
        """The bodies that are complete."""
        while self.plain:
            yield self.plain.pop(0)
        while len(self.buffer) >= 8:
            (length,) = struct.unpack_from("<Q", self.buffer)
            if not 4 <= length <= (BODY_LIMIT if self.joined else FIRST_BODY_LIMIT):
                raise Broken(f"a frame of {length} bytes")
            if len(self.buffer) < 8 + length:
                return
            body, self.buffer = self.buffer[8 : 8 + length], self.buffer[8 + length :]
            yield self.unseal(body)

    def unseal(self, body):
        if self.keys is None:
            return body
        plain = unseal(self.keys.receiving, self.unsealed, body, b"")
        if plain is not None:
            self.unsealed += 1
            return plain
        if self.unsealed == 0 and not self.joined and body[:4] == struct.pack("<HH", SESSION, 3):
            return body  # a goodbye in place of the first encrypted body
        raise Broken("a body that the peer has not sealed")

    def take_carrier(self, reader, channels, now):
        if not self.joined:
            raise Broken("a carrier before the grant")
        length, frames = reader.left, read_frames(reader)
        for frame in frames:
            if frame.kind == ACKNOWLEDGEMENT:
                self.take_acknowledgement(frame.ranges[0][1], channels)
            else:
                channels.take(frame)
        self.came += 1
        if any(frame.asks for frame in frames):
            self.asking += length
            self.asking_since = now if self.asking_since is None else self.asking_since

    def take_acknowledgement(self, largest, channels):
        if largest >= self.sent:
            raise Broken(f"an acknowledgement of carrier {largest}, and {self.sent} were sent")
        while self.acknowledged <= largest:
            for record in self.records.pop(self.acknowledged):
                channels.acknowledged(record)
            self.acknowledged += 1

    def due(self):
        """The time at which an acknowledgement must be sent."""
        if self.asking_since is None:
            return None
        is_urgent = self.came - self.told >= 32 or self.asking >= 65_536
        return self.asking_since + (0 if is_urgent else 0.05)

    def flush(self, channels, now, carries):
        self.change_key_if_due()
        while self.open and len(self.unsent) < 65_536:
            writer = FrameWriter(CARRIER_LIMIT)
            owes = self.due() is not None and now >= self.due()
            if self.came > self.told:
                writer.acknowledgement([(self.told, self.came - 1)])
            head = len(writer.data)
            records = channels.fill(writer) if carries else []
            if len(writer.data) == head and not owes:
                break
            self.told, self.asking, self.asking_since = self.came, 0, None
            self.records[self.sent] = records
            self.sent += 1
            self.send(CARRIER, 0, bytes(writer.data))
        self.push()

    def change_key_if_due(self):
        if self.keys is None or not self.lifetime or not self.joined:
            return
        if self.sealed - self.keys.first_sent >= self.lifetime:
            self.send(SESSION, KEY_CHANGE, b"")
            self.keys.change_sending(self.sealed)

    def take_key_change(self):
        if self.keys is None:
            raise Broken("a key change in plaintext")
        self.keys.receiving = following(self.keys.receiving)

    def send(self, kind, action, payload):
        body = struct.pack("<HH", kind, action) + payload
        if self.keys is not None:
            body = seal(self.keys.sending, self.sealed, body, b"")
            self.sealed += 1
        self.unsent += struct.pack("<Q", len(body)) + body

    def push(self):
        try:
            while self.unsent and not self.ended:
                self.unsent = self.unsent[self.socket.send(self.unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self.unsent = b""  # bytes that the peer sent earlier can still be read

    def abandon(self, channels):
        """The stream has ended: messages without acknowledgement are sent on another link."""
        for records in self.records.values():
            for record in records:
                channels.lost(record)
        self.records = {}

    def close(self):
        self.socket.setblocking(True)
        self.socket.settimeout(1)
        try:
            self.socket.sendall(self.unsent)
        except OSError:
            pass
        self.socket.close()


class Sent:
    """A sent packet that is not acknowledged yet."""

    def __init__(self, time, records, asks):
        self.time, self.records, self.asks, self.overtaken = time, records, asks, None


class Datagrams:
    """A datagram path. The initiator has `addresses` to try, the responder an address that has
    been proved. It is encrypted if `handshake` is not None."""

    kind = "udp"

    def __init__(self, send, key, is_initiator, addresses=(), address=None, epoch=1,
                 handshake=None):
        self.send_datagram, self.key, self.is_initiator, self.epoch = send, key, is_initiator, epoch
        self.addresses, self.address, self.cookie = addresses, address, None
        self.heard = self.resumes = self.gone = False
        self.hello_at, self.hello_pause = 0.0, 0.2
        self.next, self.largest_acknowledged, self.sent = 0, None, {}
        self.smoothed, self.shortest, self.probes, self.probe_at = None, None, 0, None
        self.came, self.untold, self.arrived = [], None, 0.0
        self.asking, self.asking_since = 0, None
        self.owes_ping = False
        self.handshake, self.keys = handshake, None
        self.lifetime = None  # of a key, in packets
        self.part = handshake.first() if handshake and is_initiator else b""
        # With a host whose key is known: makes the handshake behind a hello, and that hello.
        self.renew, self.bound = None, None
        self.uses_token = handshake is not None and handshake.uses_token
        self.presents = self.uses_token and is_initiator  # the ticket, before any cookie
        self.allowance = None  # bytes that may be sent before the address is proved

    @property
    def open(self):
        """Whether data packets can be sent."""
        return self.address is not None and not self.securing

    @property
    def securing(self):
        return self.handshake is not None and self.keys is None

    @property
    def answered(self):
        return self.heard and self.probes < 3

    @property
    def prefix(self):
        """What a responder puts before its data packets until the initiator has shown, with a data
        packet, that it has the answer to a first message with its request."""
        if self.is_initiator or self.heard or not self.handshake or self.handshake.payload is None:
            return b""
        return self.handshake_part(2, self.part)

    @property
    def may_begin_again(self):
        """Whether an initiator that knows this side's key may open the path again."""
        return not (self.heard or self.uses_token or self.securing) and (
            self.handshake is not None and self.handshake.payload is not None)

    @property
    def room(self):
        """The most bytes that the next datagram may have."""
        if self.allowance is None or self.heard:
            return DATAGRAM_LIMIT
        return min(DATAGRAM_LIMIT, self.allowance)

    @property
    def waits(self):
        """Whether so little may be sent that it waits for more to arrive."""
        return self.room < len(self.prefix) + 64

    # Starting and moving the path.

    def present(self, now):
        """Sends the first datagram with a connect token."""
        hello = struct.pack(HELLO_LAYOUT, HELLO, b"CRM3", 3, self.key, self.epoch, 8, 0)
        first = hello + self.handshake_part(1, self.part)
        self.send_datagram(first.ljust(DATAGRAM_LIMIT, b"\0"), self.addresses[0])
        self.presents, self.hello_at = False, now + 0.2
        self.epoch += 1  # for the hellos that follow if no answer arrives

    def hello(self):
        if self.handshake is None:
            return struct.pack(
                HELLO_LAYOUT, HELLO, b"CRM2", 2, self.key, self.epoch, self.resumes,
                self.cookie or 0)
        has_tag = self.keys is not None and self.cookie
        hello = struct.pack(
            HELLO_LAYOUT, HELLO, b"CRM3", 3, self.key, self.epoch,
            self.resumes | (4 if has_tag else 0), self.cookie or 0)
        return hello + (self.keys.tag(self.key, self.epoch, self.cookie) if has_tag else b"")

    def handshake_part(self, number, message):
        head = struct.pack("<BB8s", HANDSHAKE, number, self.key[:8])
        return head + varint(len(message)) + message

    def send_first(self, now):
        """Sends the hello with its cookie, and the first message of the handshake."""
        hello = self.hello()
        if self.renew is not None and hello != self.bound:
            self.bound, self.handshake = hello, self.renew(hello)
            self.part = self.handshake.first()
        self.send_datagram(hello + self.handshake_part(1, self.part), self.address)
        self.hello_at = now + 0.2

    def take_answer(self, data, address):
        """Takes the responder's message of the handshake; returns whether there are keys now, and
        the data packet that follows the answer to a first message with the request."""
        reader = Reader(data[1:])
        number, prefix = reader.unpack("B8s")
        message, packet = reader.take(reader.varint()), reader.rest()
        if packet and not self.handshake.ends_with(message):
            raise Broken("a data packet after the answer")
        expected = self.addresses if self.uses_token and not self.address else [self.address]
        if number != 2 or prefix != self.key[:8] or address not in expected:
            return False, b""
        return self.securing and self.secure(message, address), packet

    def secure(self, message, address):
        before = dict(vars(self.handshake))
        try:
            self.part = self.handshake.third(message)
        except Broken:
            vars(self.handshake).update(before)  # a forged message has no effect
            return False
        self.keys, self.owes_ping, self.address = self.handshake.keys, True, address
        return True

    def call(self, now):
        for address in self.addresses:
            self.send_datagram(self.hello().ljust(DATAGRAM_LIMIT, b"\0"), address)
        self.hello_at, self.hello_pause = now + self.hello_pause, min(1, self.hello_pause * 1.5)

    def take_retry(self, data, address):
        """Returns whether this was the first retry of the path."""
        if not self.is_initiator or len(data) not in (9, 17):
            return False
        (cookie,) = struct.unpack_from("<Q", data, 1)
        if self.address is None:
            if data[9:] != self.key[:8]:
                return False
            self.address, self.cookie, self.owes_ping = address, cookie, True
            self.hello_at = 0.0
            return True
        if address == self.address and cookie != self.cookie:
            self.epoch, self.cookie = self.epoch + 1, cookie
            self.heard, self.owes_ping = False, True
        return False

    def move(self, address, epoch):
        """The initiator has proved an address, for the first time or again."""
        if epoch > self.epoch:
            self.epoch, self.address, self.owes_ping = epoch, address, True

    # Receiving.

    def receive(self, data, channels, now, allows_messages=True):
        """Receives a data packet, or drops it as a whole; returns whether it was received."""
        try:
            reader = Reader(data)
            first, number = self.read_head(reader)
            if self.securing:
                return False
            if self.keys is not None:
                plain = self.keys.open_packet(
                    number, first & 1, data[reader.at :], data[: reader.at], self.next,
                    self.smoothed or 0, now)
                if plain is None:
                    return False
                reader = Reader(plain)
            short = self.read_short(reader) if first & 8 else None
            frames = read_frames(reader)
        except Broken:
            return False
        if any(low <= number <= high for low, high in self.came):
            return False
        is_message = [frame.kind == "message" and frame.channel < 64 for frame in frames]
        if any(is_message) and not allows_messages:
            return False  # it is sent again after the grant
        if short is not None and (not self.came or number > self.came[0][1]):
            self.take_acknowledgement([short[0]], short[1], channels, now)
        for frame in frames:
            if frame.kind == ACKNOWLEDGEMENT:
                self.take_acknowledgement(frame.ranges, frame.held, channels, now)
            else:
                channels.take(frame)
        self.note(number, any(frame.asks_in_datagram for frame in frames), now)
        self.heard, self.probes = True, 0
        return True

    def read_head(self, reader):
        first = reader.byte()
        length = (first >> 4 & 3) + 1
        if first & (0x86 if self.keys else 0x87) or length == 1 or (first >> 6 & 1) != (1 if self.is_initiator else 0):
            raise Broken(f"a data packet that begins with {first}")
        near = self.came[0][1] + 1 if self.came else 0
        number = expand(int.from_bytes(reader.take(length), "little"), 8 * length, near)
        return first, number

    def read_short(self, reader):
        low, held = reader.unpack("HB")
        base = self.largest_acknowledged or 0
        largest = base + (low - base) % 65_536
        return (max(0, largest - 63), largest), held

    def note(self, number, asks, now):
        """Adds a packet number to the received ranges, newest first."""
        next_number = self.came[0][1] + 1 if self.came else number
        if number >= next_number:
            self.arrived = now
        ranges = sorted(self.came + [(number, number)], reverse=True)
        self.came = [ranges[0]]
        for low, high in ranges[1:]:
            if self.came[-1][0] <= high + 1:
                self.came[-1] = (min(low, self.came[-1][0]), self.came[-1][1])
            else:
                self.came.append((low, high))
        if len(self.came) > 64:
            self.came[63:] = [(0, self.came[63][1])]
        self.untold = number if self.untold is None else min(self.untold, number)
        if not asks:
            return
        self.asking += 2 if number != next_number else 1
        self.asking_since = now if self.asking_since is None else self.asking_since

    def take_acknowledgement(self, ranges, held, channels, now):
        largest = ranges[0][1]
        if largest >= self.next:
            raise Broken(f"an acknowledgement of packet {largest}, and {self.next} were sent")
        newest = self.sent.get(largest)
        for low, high in ranges:
            for number in [n for n in self.sent if low <= n <= high]:
                for record in self.sent.pop(number).records:
                    channels.acknowledged(record)
        if newest is not None and newest.asks:
            self.measure(max(1e-5, now - newest.time - hold_seconds(held)))
        if self.largest_acknowledged is None or largest > self.largest_acknowledged:
            self.largest_acknowledged = largest
        for number, packet in self.sent.items():
            if number < self.largest_acknowledged and packet.overtaken is None:
                packet.overtaken = now
        self.probes = 0

    def measure(self, trip):
        self.shortest = trip if self.shortest is None else min(self.shortest, trip)
        self.smoothed = trip if self.smoothed is None else self.smoothed * 7 / 8 + trip / 8

    # Timers.

    def due(self):
        """The next time at which `work` must be called."""
        if self.address is None:
            return self.hello_at if self.is_initiator else None
        if self.securing:
            return self.hello_at if self.is_initiator else None
        if self.waits:
            return None
        moments = [self.acknowledgement_due(), 0 if self.owes_ping else None, self.probe_due()]
        moments += [p.overtaken + self.patience for p in self.sent.values() if p.overtaken]
        return min((moment for moment in moments if moment is not None), default=None)

    @property
    def patience(self):
        return (self.shortest or 0) / 4

    def acknowledgement_due(self):
        if self.asking_since is None:
            return None
        return self.asking_since + (0 if self.asking >= 2 else 0.02)

    def probe_due(self):
        """The time of the next probe, if ack-eliciting packets remain unacknowledged."""
        times = [packet.time for packet in self.sent.values() if packet.asks]
        if not times:
            return None
        pause = 0.2 if self.smoothed is None else 2 * self.smoothed + 0.03
        return max(min(times), self.probe_at or 0) + pause * 2 ** min(self.probes, 6)

    def acknowledge_now(self):
        self.asking, self.asking_since = 2, 0.0

    def work(self, channels, now):
        if self.address is None:
            if self.presents:
                self.present(now)
            elif self.is_initiator and now >= self.hello_at:
                self.call(now)
            return
        if self.securing:
            if self.is_initiator and now >= self.hello_at:
                self.send_first(now)
            return
        for number, packet in list(self.sent.items()):
            if packet.overtaken is not None and now >= packet.overtaken + self.patience:
                self.give_up(number, channels)
        if self.probe_due() is not None and now >= self.probe_due():
            # A message that arrives twice does no harm: the receiver drops duplicates.
            for number in [n for n, packet in self.sent.items() if packet.asks]:
                self.give_up(number, channels)
            self.probes, self.probe_at, self.owes_ping = self.probes + 1, now, True

    def give_up(self, number, channels):
        for record in self.sent.pop(number).records:
            channels.lost(record)

    def abandon(self, channels):
        for number in list(self.sent):
            self.give_up(number, channels)

    # Sending.

    def flush(self, channels, now, carries):
        while self.open and len(self.sent) < 64 and not self.waits:
            due = self.acknowledgement_due()
            owes = due is not None and now >= due
            if not (owes or self.owes_ping or carries and channels.pending):
                break
            if not self.send_packet(channels, now, carries, owes):
                break

    def change_key_if_due(self, now):
        if self.keys is not None and self.lifetime and (
                self.next - self.keys.first_sent >= self.lifetime
                and self.keys.may_change(self.largest_acknowledged, now)):
            self.keys.change_sending(self.next)

    def send_packet(self, channels, now, carries, owes):
        self.change_key_if_due(now)
        is_proving = self.is_initiator and not self.heard
        hello = self.hello() if is_proving and self.cookie else self.prefix
        if is_proving and hello and self.part:
            hello += self.handshake_part(3, self.part)
        head, short = self.head(now)
        room = self.room - len(hello) - (0 if self.keys is None else TAG)
        writer = FrameWriter(room, head + short)
        if self.came and not self.short_is_enough():
            writer.acknowledgement(self.came[:32], hold_byte(now - self.arrived))
        begin = len(writer.data)
        records = channels.fill(writer) if carries else []
        frames = read_frames(Reader(bytes(writer.data[begin:])))
        asks = any(frame.asks_in_datagram for frame in frames)
        if not frames and not owes and not self.owes_ping:
            return False
        if self.owes_ping and not asks:
            writer.ping()
            asks = True
        self.owes_ping, self.untold = False, None
        self.asking, self.asking_since = 0, None
        packet = bytes(writer.data)
        if self.keys is not None:
            packet = head + seal(self.keys.sending, self.next, packet[len(head) :], head)
        self.sent[self.next] = Sent(now, records, asks)
        self.next += 1
        self.forget()
        if self.allowance is not None:
            self.allowance -= len(hello) + len(packet)
        self.send_datagram(hello + packet, self.address)
        return True

    def forget(self):
        """Drops records of packets that need no acknowledgement."""
        for number in [n for n, packet in self.sent.items() if not packet.asks][:-32]:
            del self.sent[number]

    def short_is_enough(self):
        """Whether the acknowledgement in the header covers all new packets."""
        low, high = self.came[0]
        first = max(0, high - 63)
        return low <= first and (self.untold is None or self.untold >= first)

    def head(self, now):
        window = self.next - (self.largest_acknowledged or 0)
        length = 2 if window < 4096 else 3 if window < 1 << 20 else 4
        first = (0 if self.is_initiator else 0x40) | (length - 1) << 4
        first |= self.keys.phase if self.keys else 0
        number = (self.next & (1 << 8 * length) - 1).to_bytes(length, "little")
        if not self.came or not self.short_is_enough():
            return bytes([first]) + number, b""
        held = hold_byte(now - self.arrived)
        short = struct.pack("<HB", self.came[0][1] & 0xFFFF, held)
        return bytes([first | 8]) + number, short
