"""Connect tokens, as a client has them and as a host opens them."""

import base64
import ctypes
import ctypes.util
import struct
import time

from wire import Broken, Reader

TAG, DAY, HOSTS, DATA = 16, 86_400_000, 6, 256


def sodium():
    library = ctypes.CDLL(ctypes.util.find_library("sodium") or "libsodium.so.23")
    library.sodium_init()
    return library


SODIUM = sodium()


def now():
    """Milliseconds since the beginning of 1970."""
    return time.time_ns() // 1_000_000


class Refused(Exception):
    """A ticket that the host does not accept; `reason` is that of the goodbye."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


class Routing:
    """The bytes on each datagram by which a proxy finds the host."""

    def __init__(self, reader):
        head = reader.byte()
        self.is_suffix, length = head >= 128, head % 128
        if not 1 <= length <= 32:
            raise Broken(f"{length} routing bytes")
        self.data = reader.take(length)

    def add(self, datagram):
        return datagram + self.data if self.is_suffix else self.data + datagram

    def remove(self, datagram):
        """The proxy may have removed the bytes."""
        if self.is_suffix:
            return datagram.removesuffix(self.data)
        return datagram.removeprefix(self.data)


class Token:
    """A client's token: the ticket, which the host gets, the key, and the routing before both, if
    a proxy needs some."""

    def __init__(self, text):
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        self.routing = None
        if data[:4] == b"CRR1":
            reader = Reader(data[4:])
            count = reader.byte()
            if count != 1:
                raise Broken(f"routing for {count} hosts in a token to join one")
            self.routing, data = Routing(reader), reader.rest()
        self.ticket, self.key = data[:-32], data[-32:]
        Ticket(self.ticket)


class Ticket:
    """The readable part of a ticket; the key, the player and the data are sealed."""

    def __init__(self, data):
        if not 109 <= len(data) <= 479:
            raise Broken(f"a ticket of {len(data)} bytes")
        reader = Reader(data)
        magic, self.made, self.expiry, count = reader.unpack("4sQQB")
        self.hosts = [self.read_host(reader) for _ in range(count)]
        self.head = data[: reader.at]
        self.nonce, self.sealed = reader.take(24), reader.rest()
        lifetime = self.expiry - self.made
        if magic != b"CRT1" or count > HOSTS or self.made >> 63 or not 0 < lifetime <= DAY or not (
                64 <= len(self.sealed) <= 64 + DATA):
            raise Broken("a malformed ticket")
        self.tag = self.sealed[-TAG:]

    @staticmethod
    def read_host(reader):
        version = reader.byte()
        if version not in (4, 6):
            raise Broken(f"an address of version {version}")
        address, (port,) = reader.take(4 if version == 4 else 16), reader.unpack("H")
        if port == 0:
            raise Broken("a host without a port")
        return address, port


class Backend:
    """The backend's key, and which tickets have been used."""

    def __init__(self, key):
        self.key, self.start, self.address, self.owners = key, now(), None, {}

    def open(self, data):
        """The ticket with its key, player and data, if this host accepts it."""
        ticket = Ticket(data)
        plain = ctypes.create_string_buffer(len(ticket.sealed))
        if SODIUM.crypto_aead_xchacha20poly1305_ietf_decrypt(
                plain, None, None, ticket.sealed, ctypes.c_ulonglong(len(ticket.sealed)),
                ticket.head, ctypes.c_ulonglong(len(ticket.head)), ticket.nonce, self.key) != 0:
            raise Refused("tokenInvalid")
        ticket.key, ticket.player = plain.raw[:32], plain.raw[32:48]
        ticket.data = plain.raw[48 : len(ticket.sealed) - TAG]
        if ticket.tag not in self.owners:
            self.check(ticket)
        return ticket

    def check(self, ticket):
        if ticket.expiry <= now():
            raise Refused("tokenExpired")
        if ticket.made > now():
            raise Refused("tokenNotYetValid")
        if ticket.made <= self.start:
            raise Refused("tokenBeforeStart")
        if self.address not in ticket.hosts:
            raise Refused("tokenForOtherHost")

    def use(self, ticket, connection):
        """Uses an open ticket for the connection with this key."""
        if self.owners.setdefault(ticket.tag, connection) != connection:
            raise Refused("tokenUsed")
