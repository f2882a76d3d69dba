#!/usr/bin/env python3
"""Sends a host at HOST PORT good and bad requests and frames, and checks how it answers each.

The host has the page "/" with the content "page\\n". Prints one line of JSON: the number of cases,
and those that were answered otherwise.
"""

import argparse
import json
import socket
import struct
import sys

from web import BINARY, CLOSE, CONTINUATION, MESSAGE_LIMIT, PING, PONG, TEXT
from web import Refused, answer_to, frame, opening, read_frame, read_head

KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def request(host, first="GET / HTTP/1.1", extra=(), end="\r\n"):
    lines = [first, f"Host: {host}", *extra]
    return "".join(line + end for line in lines).encode() + end.encode()


def upgrade(host, **changes):
    """An opening handshake with some lines replaced, or removed if the new line is None."""
    names = dict(
        first="GET", upgrade="Upgrade", connection="Connection", key="Sec-WebSocket-Key",
        version="Sec-WebSocket-Version", protocol="Sec-WebSocket-Protocol")
    lines = opening(host, KEY).decode().split("\r\n")[:-2]
    for name, line in changes.items():
        place = next(i for i, each in enumerate(lines) if each.startswith(names[name]))
        lines[place : place + 1] = [line] if line else []
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"


def http_cases(host, port):
    """The name, the bytes and the status of each request; None if the host only closes."""
    own = f"{host}:{port}"
    get = request(own)
    yield "a page", get, 200
    yield "the head of a page", request(own, "HEAD / HTTP/1.1"), 200
    yield "a query", request(own, "GET /?room=1 HTTP/1.1"), 200
    yield "localhost", request(f"localhost:{port}"), 200
    yield "a name without port", request("LocalHost"), 200
    yield "the page's own origin", request(own, extra=[f"Origin: http://{own}"]), 200
    yield "a page that does not exist", request(own, "GET /none HTTP/1.1"), 404
    for path in ["/../../etc/passwd", "//etc/passwd", "/%2e%2e/etc/passwd", "/./"]:
        yield f"the path {path}", request(own, f"GET {path} HTTP/1.1"), 404
    yield "an absolute target", request(own, f"GET http://{own}/ HTTP/1.1"), 400
    yield "another method", request(own, "POST / HTTP/1.1", ["Content-Length: 0"]), 405
    yield "the WebSocket's path", request(own, "GET /carom HTTP/1.1"), 426
    yield "HTTP/1.0", request(own, "GET / HTTP/1.0"), 505
    yield "a foreign name", request("evil.example"), 421
    yield "another address", request("192.0.2.1"), 421
    yield "a name with user", request(f"x@{own}"), 421
    yield "a port that is none", request(f"{host}:http"), 421
    yield "a port with a sign", request(f"{host}:+80"), 421
    yield "a port that is too large", request(f"{host}:65536"), 421
    yield "an empty port", request(f"{host}:"), 200
    yield "a port without a host", request(":80"), 421
    yield "two Hosts", request(own, extra=[f"Host: {own}"]), 400
    yield "no Host", b"GET / HTTP/1.1\r\n\r\n", 400
    yield "a foreign origin", request(own, extra=["Origin: http://evil.example"]), 403
    yield "another port's origin", request(own, extra=[f"Origin: http://{host}:1"]), 403
    yield "no origin at all", request(own, extra=["Origin: null"]), 403
    yield "a body", request(own, extra=["Content-Length: 4"]) + b"body", 400
    yield "a chunked body", request(own, extra=["Transfer-Encoding: chunked"]), 400
    yield "two lengths", request(own, extra=["Content-Length: 0", "Content-Length: 9"]), 400
    yield "length and chunks", request(
        own, extra=["Content-Length: 0", "Transfer-Encoding: chunked"]), 400
    yield "two requests", get + get, 400
    yield "a folded field", request(own, extra=["X: 1", " 2"]), 400
    yield "a folded Host", f"GET / HTTP/1.1\r\nHost:\r\n {own}\r\n\r\n".encode(), 400
    yield "a space before the colon", request(own, extra=["Origin : http://x"]), 400
    yield "a line without colon", request(own, extra=["Origin"]), 400
    yield "a line feed alone", f"GET / HTTP/1.1\nHost: {own}\r\n\r\n".encode(), 400
    yield "a carriage return alone", request(own, extra=["X: a\rY: b"]), 400
    yield "a zero byte", request(own, extra=["X: a\0b"]), 400
    yield "65 fields", request(own, extra=[f"X{i}: 1" for i in range(64)]), 431
    yield "64 fields", request(own, extra=[f"X{i}: 1" for i in range(63)]), 200
    yield "a head over 8 KiB", request(own, extra=["X: " + "a" * 8192]), 431
    yield "no method", b"get / HTTP/1.1\r\n\r\n", 400
    yield "bytes of another protocol", b"\x05\x01\x02\x03\x04", 400
    yield "TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", None
    yield "a handshake", upgrade(own), 101
    yield "a deflating handshake", opening(
        own, KEY, ["Sec-WebSocket-Extensions: permessage-deflate"]), 101
    yield "a handshake in other letters", upgrade(
        own, upgrade="uPGRADE: WebSocket", connection="connection: keep-alive, upgrade"), 101
    yield "a handshake at another path", upgrade(own, first="GET / HTTP/1.1"), 404
    yield "a handshake with POST", upgrade(own, first="POST /carom HTTP/1.1"), 405
    yield "a handshake of version 8", upgrade(own, version="Sec-WebSocket-Version: 8"), 426
    yield "a handshake without version", upgrade(own, version=None), 426
    yield "a handshake without key", upgrade(own, key=None), 400
    yield "a handshake with a short key", upgrade(own, key="Sec-WebSocket-Key: c2hvcnQ="), 400
    yield "a handshake without protocol", upgrade(own, protocol=None), 400
    yield "a handshake of another protocol", upgrade(
        own, protocol="Sec-WebSocket-Protocol: chat"), 400
    yield "a handshake without Connection", upgrade(own, connection=None), 400
    yield "a handshake of another site", opening(
        own, KEY, ["Origin: http://evil.example"]), 403
    yield "a handshake with another name", opening("evil.example", KEY), 421
    yield "a hasty handshake", upgrade(own) + frame(PING, b""), 400


def close(code, reason=b""):
    return frame(CLOSE, struct.pack(">H", code) + reason)


def frame_cases():
    """The name, the bytes, and the payload of the Close frame that answers them."""
    def code(number):
        return struct.pack(">H", number)

    wrong, unsupported, invalid, big = code(1002), code(1003), code(1007), code(1009)
    yield "text", frame(TEXT, b"hello"), unsupported
    yield "no mask", frame(BINARY, b"\x10", mask=None), wrong
    for reserved in (1, 2, 4):
        yield f"reserved bits {reserved}", frame(BINARY, b"\x10", reserved=reserved), wrong
    for opcode in (3, 7, 11, 15):
        yield f"opcode {opcode}", frame(opcode, b""), wrong
    yield "a continuation of nothing", frame(CONTINUATION, b"\x10"), wrong
    begun = frame(BINARY, b"\x10", final=False)
    yield "a message in a message", begun + frame(BINARY, b"\0"), wrong
    yield "text in a message", begun + frame(TEXT, b"x"), wrong
    yield "a fragmented ping", frame(PING, b"", final=False), wrong
    yield "a ping of 126 bytes", frame(PING, b"p" * 126), wrong
    yield "a length in too many bytes", b"\x82\xfe\x00\x05" + b"\0" * 9, wrong
    yield "a long length in too many bytes", b"\x82\xff" + b"\0" * 6 + b"\xff\xff" + b"\0" * 9, wrong
    yield "a length with the highest bit", b"\x82\xff\x80" + b"\0" * 16, wrong
    yield "a huge frame", frame(BINARY, b"\x10", length=1 << 62), big
    yield "a message over the limit", frame(BINARY, b"\x10", length=MESSAGE_LIMIT + 1), big
    yield "fragments over the limit", begun + frame(CONTINUATION, b"\0", length=MESSAGE_LIMIT), big
    yield "a close without code", frame(CLOSE, b""), b""
    yield "a close of one byte", frame(CLOSE, b"\x03"), wrong
    for number in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4999):
        yield f"a close with {number}", close(number), code(number)
    for number in (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535):
        yield f"a close with {number}", close(number), wrong
    yield "a close with a reason", close(1000, "Tschüß".encode()), code(1000)
    yield "a close with a long reason", close(1000, b"r" * 123), code(1000)
    for bad in (b"\xc3", b"\xed\xa0\x80", b"\xff", b"\xc0\xaf", b"\xf4\x90\x80\x80"):
        yield f"a close with {bad.hex()}", close(1000, bad), invalid
    yield "a close in a message", begun + close(1000), code(1000)


class Cases:
    def __init__(self, host, port):
        self.address, self.count, self.failures = (host, port), 0, []

    def connect(self):
        return socket.create_connection(self.address, timeout=5)

    def check(self, name, holds, what):
        self.count += 1
        if not holds:
            self.failures.append(f"{name}: {what}")

    def run_http(self, name, data, status, step=None):
        with self.connect() as stream:
            try:
                for start in range(0, len(data), step or len(data)):
                    stream.sendall(data[start : start + (step or len(data))])
                first, fields, rest = read_head(stream)
            except (Refused, OSError) as error:
                return self.check(name, status is None, f"no answer, {error!r}")
            self.check(name, status is not None and first.split()[1] == str(status), first)
            if status == 101:
                accepts = fields.get("sec-websocket-accept") == answer_to(KEY)
                return self.check(
                    name, accepts and "sec-websocket-extensions" not in fields, fields)
            while more := stream.recv(65_536):
                rest += more
            has_body = not data.startswith(b"HEAD")
            expected = int(fields["content-length"]) if has_body else 0
            self.check(name, len(rest) == expected and fields["connection"] == "close", rest)
            if status == 200 and has_body:
                self.check(name, rest == b"page\n", rest)
        return None

    def open(self):
        stream = self.connect()
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.sendall(opening(f"{self.address[0]}:{self.address[1]}", KEY))
        first, _, rest = read_head(stream)
        if " 101 " not in first:
            raise Refused(first)
        return stream, rest

    def read(self, stream, data):
        """The next frame, or None at the end, and what follows it."""
        while (found := read_frame(data)) is None:
            more = stream.recv(65_536)
            if not more:
                return None, data
            data += more
        return found[:2], data[found[2] :]

    def run_frames(self, name, data, payload, step=None):
        stream, rest = self.open()
        with stream:
            try:
                for start in range(0, len(data), step or len(data)):
                    stream.sendall(data[start : start + (step or len(data))])
            except OSError:
                pass  # the host has closed the stream before it had read everything
            found, rest = self.read(stream, rest)
            self.check(name, found == (CLOSE, payload), found)
            found, rest = self.read(stream, rest)
            self.check(name, found is None and not rest, f"{found} after the close")

    def run_pings(self, name, pieces):
        """Pings in and around the fragments of a message; the connection goes on."""
        stream, rest = self.open()
        pings = [b"", b"a", b"\0\xff" * 20, b"p" * 125]
        data = frame(PONG, b"unasked") + frame(PING, pings[0]) + frame(BINARY, b"", final=False)
        data += frame(PING, pings[1]) + frame(CONTINUATION, b"\x10", final=False)
        data += frame(PING, pings[2]) + frame(CONTINUATION, b"") + frame(PING, pings[3])
        with stream:
            for start in range(0, len(data), pieces):
                stream.sendall(data[start : start + pieces])
            for ping in pings:
                found, rest = self.read(stream, rest)
                self.check(name, found == (PONG, ping), found)
            stream.sendall(close(1000))
            found, rest = self.read(stream, rest)
            self.check(name, found == (CLOSE, struct.pack(">H", 1000)), found)

    def run(self):
        for name, data, status in http_cases(*self.address):
            self.run_http(name, data, status)
        own = f"{self.address[0]}:{self.address[1]}"
        self.run_http("a page, byte by byte", request(own), 200, step=1)
        self.run_http("a handshake in pieces", upgrade(own), 101, step=7)
        for name, data, payload in frame_cases():
            self.run_frames(name, data, payload)
            if len(data) < 200:
                self.run_frames(f"{name}, byte by byte", data, payload, step=1)
        for pieces in (1, 3, 4096):
            self.run_pings(f"pings in pieces of {pieces}", pieces)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    options = parser.parse_args()
    cases = Cases(options.host, options.port)
    cases.run()
    print(json.dumps(dict(cases=cases.count, failures=cases.failures)))
    return 1 if cases.failures else 0


if __name__ == "__main__":
    sys.exit(main())
