"""Hellos, and the cookies with which a host validates addresses."""

import hashlib
import hmac
import os
import struct
import time

from links import DATAGRAM_LIMIT, HANDSHAKE, HELLO_LAYOUT, HELLO_LENGTH, RETRY
from wire import Broken, Reader


class AddressValidator:
    """Replies to senders whose address is not proved, without storing state for them."""

    SLOT = 16

    def __init__(self):
        self.secret = os.urandom(16)

    def cookie(self, address, slot):
        text = f"{address} {slot}".encode()
        (bits,) = struct.unpack("<Q", hmac.new(self.secret, text, hashlib.sha256).digest()[:8])
        return bits or 1

    def admits(self, cookie, address):
        slot = int(time.monotonic() / self.SLOT)
        return cookie in (self.cookie(address, slot), self.cookie(address, slot - 1))

    def retry(self, address, prefix=b""):
        cookie = self.cookie(address, int(time.monotonic() / self.SLOT))
        return struct.pack("<BQ", RETRY, cookie) + prefix


def read_hello(data, is_sealed=False):
    """Version, key, epoch, whether the connection exists, cookie, tag, part of the handshake (its
    number and message), and the packet that follows. A part without a cookie has a connect token."""
    if len(data) < HELLO_LENGTH:
        raise Broken("a hello that is too short")
    _, magic, version, key, epoch, flags, cookie = struct.unpack_from(HELLO_LAYOUT, data)
    rest = data[HELLO_LENGTH:]
    highest = 5 if is_sealed and cookie else 1
    presents = is_sealed and flags == 8 and cookie == 0
    if magic != (b"CRM3" if is_sealed else b"CRM2") or flags & ~highest and not presents or (
            cookie == 0 and (len(data) != DATAGRAM_LIMIT or any(rest) and not presents)):
        raise Broken("a malformed hello")
    tag, part = None, None
    if flags & 4:
        tag, rest = rest[:16], rest[16:]
    if is_sealed and (cookie or presents) and rest[:1] == bytes([HANDSHAKE]):
        reader = Reader(rest[1:])
        number, prefix = reader.unpack("B8s")
        part, rest = (number, reader.take(reader.varint())), reader.rest()
        if prefix != key[:8] or number not in (1, 3):
            raise Broken("a part of another handshake")
    if presents:
        if part is None or part[0] != 1:
            raise Broken("a hello without the token that it announces")
        rest = b""  # zeros, which are not checked
    if cookie and rest and rest[0] & 0xC0:
        raise Broken("a hello before something other than a data packet")
    return version, key, epoch, flags & 1 == 1, cookie, tag, part, rest
