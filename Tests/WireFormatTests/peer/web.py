"""A client's WebSocket (RFC 6455), written from the RFC and Carom.docc/WireFormat.md alone."""

import base64
import hashlib
import os
import struct

from tls import connect

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
MESSAGE_LIMIT = 81_920


class Refused(Exception):
    """The host has answered the opening handshake with another status than 101."""


def frame(opcode, payload, final=True, mask=b"\x12\x34\x56\x78", reserved=0, length=None):
    """A frame; `length` is what the header says if that is not the truth."""
    length = len(payload) if length is None else length
    head = bytes([final << 7 | reserved << 4 | opcode])
    if length < 126:
        head += bytes([(mask is not None) << 7 | length])
    elif length < 1 << 16:
        head += struct.pack(">BH", (mask is not None) << 7 | 126, length)
    else:
        head += struct.pack(">BQ", (mask is not None) << 7 | 127, length)
    if mask is None:
        return head + payload
    return head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


def read_frame(data):
    """The opcode, payload and length of the first frame in `data`; None if it is incomplete."""
    if len(data) < 2:
        return None
    start, length = 2, data[1]
    assert data[0] & 0xF0 == 0x80 and length < 128, "a host's frames are whole and not masked"
    if length >= 126:
        start = 4 if length == 126 else 10
        if len(data) < start:
            return None
        length = int.from_bytes(data[2:start], "big")
    if len(data) < start + length:
        return None
    return data[0] & 15, data[start : start + length], start + length


def opening(host, key, extra=(), protocols="carom"):
    """The request of the opening handshake."""
    lines = [
        "GET /carom HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Protocol: {protocols}", *extra]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"


def answer_to(key):
    return base64.b64encode(hashlib.sha1((key + SUFFIX).encode()).digest()).decode()


def read_head(stream):
    """The status line and the fields of an answer, by name in lower case, and what follows."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = stream.recv(65_536)
        if not more:
            raise Refused("closed")
        data += more
    head, rest = data.split(b"\r\n\r\n", 1)
    first, *lines = head.decode().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    return first, {name.lower(): value for name, value in fields.items()}, rest


class WebSocket:
    """A WebSocket with the calls of a socket that `links.Stream` uses."""

    def __init__(self, address, is_encrypted=False, code=None, name=None):
        self.socket = connect(address, is_encrypted)
        key = base64.b64encode(os.urandom(16)).decode()
        protocols = "carom" if code is None else f"carom, carom.code.{code}"
        self.socket.sendall(opening(name or f"{address[0]}:{address[1]}", key, protocols=protocols))
        first, fields, self.buffer = read_head(self.socket)
        if not first.startswith("HTTP/1.1 101 "):
            raise Refused(first)
        assert fields["sec-websocket-accept"] == answer_to(key)
        assert fields["sec-websocket-protocol"] == "carom"
        assert "sec-websocket-extensions" not in fields
        self.unsent, self.has_ended = b"", False

    def fileno(self):
        return self.socket.fileno()

    def setsockopt(self, *options):
        self.socket.setsockopt(*options)

    def setblocking(self, is_blocking):
        self.socket.setblocking(is_blocking)

    def settimeout(self, seconds):
        self.socket.settimeout(seconds)

    def recv(self, count):
        """The payload of the messages that have arrived; nothing at the end."""
        data = self.socket.recv(count)
        self.buffer += data
        payload = b""
        while (found := read_frame(self.buffer)) is not None:
            opcode, content, length = found
            self.buffer = self.buffer[length:]
            if opcode == BINARY:
                payload += content
            elif opcode == PING:
                self.unsent += frame(PONG, content, mask=os.urandom(4))
            elif opcode == CLOSE:
                self.has_ended = True
        if payload or self.has_ended or not data:
            return payload
        raise BlockingIOError

    def send(self, data):
        """Sends all of `data`, cut into messages of odd sizes and fragments."""
        data = data[:4096]
        for start in range(0, len(data), 1000):
            part = data[start : start + 1000]
            half = len(part) // 3
            self.unsent += frame(BINARY, part[:half], final=False, mask=os.urandom(4))
            self.unsent += frame(PING, b"between")
            self.unsent += frame(CONTINUATION, part[half:], mask=os.urandom(4))
        while self.unsent:
            try:
                self.unsent = self.unsent[self.socket.send(self.unsent) :]
            except BlockingIOError:
                break
        return len(data)

    def sendall(self, data):
        while data:
            data = data[self.send(data) :]

    def close(self):
        try:
            self.socket.sendall(self.unsent + frame(CLOSE, struct.pack(">H", 1000)))
        except OSError:
            pass
        self.socket.close()
