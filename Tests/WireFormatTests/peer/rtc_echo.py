#!/usr/bin/env python3
"""Joins the session at HOST PORT as a page does: over a WebSocket, and over a WebRTC data channel
beside it once the host has granted a seat.

Returns every message to its sender, on its channel, but those on channel 9 are commands: "close"
closes the data channel, "vanish" lets it end without a word, and "open" opens another one. Prints
one line of JSON when the session has ended.
"""

import argparse
import asyncio
import json
import logging
import os
import sys
import time

try:
    from rtc import ChannelDatagrams, DataChannel, ask_offer
except ImportError:
    ChannelDatagrams = None
from session import Information, Session
from web import Refused, WebSocket
from web_echo import WebStream

COMMANDS = 9


class Page:
    def __init__(self, options):
        self.address = (options.host, options.port)
        self.violations, self.echoed, self.opened, self.lengths = [], 0, 0, set()
        local = Information(os.urandom(16), "Page")
        local.application, local.version = "test", 1
        self.session = Session(self, local, os.urandom(16), is_initiator=True)
        self.session.add_stream(WebStream(WebSocket(self.address)))
        self.channel, self.was_open, self.wants_channel = None, False, False
        self.event, self.has_bytes = asyncio.Event(), False

    # Called by the session.

    def violation(self, what):
        self.violations.append(what)

    def granted(self, session):
        self.wants_channel = True

    def message(self, channel, mode, reader):
        content = reader.rest()
        if channel != COMMANDS:
            self.session.channels.send(channel, mode, content)
            self.echoed += 1
        else:
            asyncio.ensure_future(self.obey(content.decode()))

    async def obey(self, command):
        if command == "open":
            self.wants_channel = True
        elif command == "close":
            await self.channel.close()
        elif command == "vanish":
            transport = self.channel.connection.sctp.transport.transport
            await transport.stop()
        self.event.set()

    # The data channel.

    async def open_channel(self):
        self.wants_channel = False
        status, offer = await asyncio.to_thread(ask_offer, self.address)
        if offer is None:
            return self.violation(f"no data channel: {status}")
        self.channel = DataChannel(self.take_datagram, self.event.set)
        return await self.channel.open(offer)

    def take_datagram(self, data):
        self.lengths.add(len(data))
        if self.session.path is not None:
            self.session.path.take(data, self.session)
        self.event.set()

    def send_datagram(self, data, _):
        self.channel.send(data)

    def follow_channel(self):
        """Begins and suspends the session's path as the channel opens and closes."""
        is_open = self.channel is not None and self.channel.is_open
        if is_open == self.was_open:
            return
        self.was_open = is_open
        path = self.session.path
        if not is_open:
            return path.suspend(self.session.channels)
        self.opened += 1
        if path is None:
            self.session.path = ChannelDatagrams(self.send_datagram, self.session.key)
        else:
            path.begin()

    # The session.

    def is_readable(self):
        self.has_bytes = True
        self.event.set()

    async def wait(self, stream):
        """Waits for bytes, for room for others, for the channel, and for the time."""
        loop, descriptor = asyncio.get_running_loop(), stream and stream.socket.fileno()
        if stream:
            loop.add_reader(descriptor, self.is_readable)
        if stream and (stream.unsent or stream.socket.unsent):
            loop.add_writer(descriptor, self.event.set)
        try:
            pause = max(0, self.session.due() - time.monotonic())
            await asyncio.wait_for(self.event.wait(), pause)
        except asyncio.TimeoutError:
            pass
        if stream:
            loop.remove_reader(descriptor)
            loop.remove_writer(descriptor)
        self.event.clear()

    async def run(self):
        session = self.session
        session.flush(time.monotonic())
        while not session.over:
            await self.wait(session.stream)
            if self.has_bytes and session.stream:
                session.receive_stream()
            self.has_bytes = False
            self.follow_channel()
            if self.wants_channel:
                await self.open_channel()
            session.work()
        if self.channel is not None:
            await self.channel.close()
        return dict(
            violations=self.violations, echoed=self.echoed, opened=self.opened,
            longest=max(self.lengths, default=0), links=sorted(session.used),
            reason=session.reason)


async def run(options):
    return await Page(options).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    try:
        print(json.dumps(asyncio.run(run(options))))
    except Refused as error:
        print(json.dumps(dict(refused=str(error))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
