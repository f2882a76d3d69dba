#!/usr/bin/env python3
"""Joins the session at HOST PORT over a WebSocket and returns every message to its sender.

With --rejoin, opens a new WebSocket after that many messages, as a page does that was asleep, but
none after the message --last. With --unread, reads nothing between the first message and the moment
at which that file exists. Prints one line of JSON when the session has ended.
"""

import argparse
import json
import os
import select
import sys
import time

from links import Stream
from session import Information, Session
from web import Refused, WebSocket


class WebStream(Stream):
    kind = "websocket"


class Echo:
    def __init__(self, options):
        self.address, self.rejoin = (options.host, options.port), options.rejoin
        self.unread = options.unread
        self.last, self.link = options.last, (options.tls, options.code, options.name)
        self.violations, self.echoed, self.streams = [], 0, 0
        identifier = bytes.fromhex(options.id) if options.id else os.urandom(16)
        local = Information(identifier, "Browser")
        local.application, local.version = "test", 1
        self.session = Session(self, local, os.urandom(16), is_initiator=True)
        self.connect()

    def connect(self):
        self.streams += 1
        self.session.add_stream(WebStream(WebSocket(self.address, *self.link)))

    def violation(self, what):
        self.violations.append(what)

    def granted(self, session):
        pass

    def message(self, channel, mode, reader):
        self.session.channels.send(channel, mode, reader.rest())
        self.echoed += 1

    def is_unread(self):
        if self.unread and self.echoed > 0 and os.path.exists(self.unread):
            self.unread = None
        return self.unread and self.echoed > 0

    def run(self):
        session, count = self.session, 0
        session.flush(time.monotonic())
        while not session.over:
            stream = session.stream
            sockets = [stream.socket] if stream else []
            writing = sockets if stream and (stream.unsent or stream.socket.unsent) else []
            pause = max(0, session.due() - time.monotonic())
            reading = sockets
            if self.is_unread():
                reading, pause = [], min(pause, 0.05)
                session.heard = time.monotonic()
            readable, writable, _ = select.select(reading, writing, [], pause)
            if readable:
                session.receive_stream()
            elif writable:
                stream.push()
            session.work()
            is_due = self.rejoin and self.echoed - count >= self.rejoin
            if is_due and self.echoed <= self.last and session.reason is None:
                count = self.echoed
                self.connect()
        return dict(
            violations=self.violations, echoed=self.echoed, streams=self.streams,
            links=sorted(session.used), reason=session.reason)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--rejoin", type=int, default=0)
    parser.add_argument("--last", type=int, default=250)
    parser.add_argument("--unread", metavar="FILE")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--code")
    parser.add_argument("--name", help="the name of the host; its address by default")
    parser.add_argument("--id", help="16 bytes in hexadecimal; random by default")
    try:
        print(json.dumps(Echo(parser.parse_args()).run()))
    except Refused as error:
        print(json.dumps(dict(refused=str(error))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
