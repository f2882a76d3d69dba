#!/usr/bin/env python3
"""Connects to the host at HOST PORT over TLS, well and badly, and checks how it answers each time.

The host serves TLS alone, and has the page "/" with the content "page\\n". With --plain, it has no
certificate. Prints one line of JSON: the number of cases, and those that were answered otherwise.
"""

import argparse
import json
import socket
import ssl
import sys
import warnings

from tls import connect, make_context
from web import opening

KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def request(host, path="/", extra=()):
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *extra]
    return "".join(line + "\r\n" for line in lines).encode() + b"\r\n"


def read_all(stream):
    """Everything until the host closes the stream; None if it resets it."""
    data = b""
    try:
        while more := stream.recv(65_536):
            data += more
    except (ConnectionResetError, ssl.SSLError):
        return data or None
    return data


def exchange(address, data, is_encrypted, context=None):
    stream = connect(address, is_encrypted, context)
    stream.sendall(data)
    answer = read_all(stream)
    stream.close()
    return answer or b""


def client_hello(context=None):
    """The first bytes of a handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = (context or make_context()).wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def status(answer):
    return int(answer.split(b" ")[1]) if answer.startswith(b"HTTP/1.1 ") else None


class Cases:
    def __init__(self, options):
        self.address, self.own = (options.host, options.port), f"{options.host}:{options.port}"
        self.count, self.failures = 0, []

    def check(self, name, is_right, what=""):
        self.count += 1
        if not is_right:
            self.failures.append(f"{name}: {what}")

    def versions(self):
        warnings.simplefilter("ignore", DeprecationWarning)
        get = request(self.own)
        for version in [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]:
            stream = connect(self.address, True, make_context(version))
            self.check(f"{version.name}: protocol", stream.tls.selected_alpn_protocol() == "http/1.1")
            self.check(f"{version.name}: compression", stream.tls.compression() is None)
            stream.sendall(get)
            answer = read_all(stream)
            self.check(f"{version.name}: page", answer.endswith(b"\r\n\r\npage\n"), answer)
            self.check(f"{version.name}: resumption", not stream.tls.session.has_ticket)
        for context, name in [
            (make_context(ssl.TLSVersion.TLSv1_1), "TLS 1.1"),
            (make_context(protocols=["h2"]), "h2 alone"),
        ]:
            try:
                connect(self.address, True, context)
                self.check(name, False, "accepted")
            except ssl.SSLError as error:
                self.check(name, "ALERT" in str(error).upper(), error)
        both = connect(self.address, True, make_context(protocols=["h2", "http/1.1"]))
        self.check("h2 or HTTP/1.1", both.tls.selected_alpn_protocol() == "http/1.1")
        none = exchange(self.address, get, True, make_context(protocols=()))
        self.check("no protocol", status(none) == 200, none)

    def requests(self):
        own = self.own
        upgrade = opening(own, KEY)
        for name, data, expected in [
            ("its own page's origin", request(own, extra=[f"Origin: https://{own}"]), 200),
            ("a page in plaintext", request(own, extra=[f"Origin: http://{own}"]), 403),
            ("a foreign name", request("evil.example"), 421),
            ("no page", request(own, "/none"), 404),
            ("a WebSocket", upgrade + b"", 101),
            ("no request", b"hello\r\n\r\n", 400),
            ("a frame", b"\x10\0\0\0\0\0\0\0" + bytes(16), None),
            ("TLS inside of it", client_hello(), None),
        ]:
            stream = connect(self.address, True)
            stream.sendall(data)
            answer = stream.recv(65_536) if expected == 101 else read_all(stream) or b""
            stream.close()
            self.check(name, status(answer) == expected, answer)

    def plaintext(self):
        own = self.own
        answer = exchange(self.address, request(own, "/a?b=c"), False)
        self.check("a redirect", status(answer) == 308, answer)
        self.check("its place", f"Location: https://{own}/a?b=c\r\n".encode() in answer, answer)
        answer = exchange(self.address, opening(own, KEY), False)
        self.check("a WebSocket in plaintext", status(answer) == 308, answer)
        answer = exchange(self.address, request("evil.example"), False)
        self.check("no redirect to another host", status(answer) == 421, answer)

    def garbage(self):
        hello = client_hello()
        for length in range(1, len(hello), 16):
            stream = socket.create_connection(self.address, timeout=10)
            stream.sendall(hello[:length])
            stream.close()
        for place in range(3, len(hello), 16):
            changed = bytearray(hello)
            changed[place] ^= 0xFF
            stream = socket.create_connection(self.address, timeout=10)
            stream.sendall(changed + b"\x17\x03\x03\x00\x04junk")
            stream.settimeout(0.02)
            try:
                stream.recv(65_536)
            except OSError:
                pass
            stream.close()
        slow = socket.create_connection(self.address, timeout=10)
        for byte in hello:
            slow.sendall(bytes([byte]))
        answer = slow.recv(65_536)
        self.check("a handshake byte by byte", answer[:1] == b"\x16", answer)
        slow.close()
        answer = exchange(self.address, request(self.own), True)
        self.check("a page after that", status(answer) == 200, answer)

    def without_certificate(self):
        for context in [make_context(), make_context(ssl.TLSVersion.TLSv1_2)]:
            try:
                connect(self.address, True, context)
                self.check("TLS", False, "accepted")
            except ssl.SSLError as error:
                self.check("TLS", "HANDSHAKE_FAILURE" in str(error).upper(), error)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    cases = Cases(options)
    if options.plain:
        cases.without_certificate()
    else:
        cases.versions()
        cases.requests()
        cases.plaintext()
        cases.garbage()
    print(json.dumps(dict(cases=cases.count, failures=cases.failures)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
