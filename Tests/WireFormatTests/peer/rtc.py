"""A page's WebRTC data channel to its host, by aiortc: each message is a datagram of the session.

Nothing leaves the computer: no STUN server is asked, no address is announced by a name, and the
channel is bound to the loopback interface alone.
"""

import http.client
import json

import aioice.ice
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from links import HELLO, RETRY, Datagrams

CHANNEL_LIMIT = 1_120
LOOPBACK = "127.0.0.1"

aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [LOOPBACK]


def ask_offer(address):
    """The status of the host's answer, and what it offers."""
    connection = http.client.HTTPConnection(*address, timeout=5)
    connection.request("GET", "/carom/datagrams")
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, json.loads(content) if answer.status == 200 else None


def answer_of(offer, mid):
    """The session description (RFC 8866) of the host, which is ICE-lite and answers passively."""
    lines = [
        "v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", f"a=group:BUNDLE {mid}", "a=ice-lite",
        f"m=application {offer['port']} UDP/DTLS/SCTP webrtc-datachannel",
        f"c=IN IP4 {offer['address']}", f"a=mid:{mid}", f"a=ice-ufrag:{offer['ufrag']}",
        f"a=ice-pwd:{offer['password']}", f"a=fingerprint:sha-256 {offer['fingerprint']}",
        "a=setup:passive", "a=sctp-port:5000", "a=max-message-size:1200",
        f"a=candidate:1 1 udp 2130706431 {offer['address']} {offer['port']} typ host",
        "a=end-of-candidates", ""]
    return "\r\n".join(lines)


class DataChannel:
    """One attempt to open a channel; `received(message)` and `changed()` are called."""

    def __init__(self, received, changed):
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.channel = self.connection.createDataChannel(
            "carom", negotiated=True, id=0, ordered=False, maxRetransmits=0)
        self.channel.on("message", received)
        self.channel.on("open", changed)
        self.channel.on("close", changed)

    @property
    def is_open(self):
        return self.channel.readyState == "open"

    @property
    def has_ended(self):
        return self.channel.readyState == "closed"

    async def open(self, offer):
        await self.connection.setLocalDescription(await self.connection.createOffer())
        local = self.connection.localDescription.sdp
        mid = local.split("a=mid:")[1].split()[0]
        await self.connection.setRemoteDescription(
            RTCSessionDescription(type="answer", sdp=answer_of(offer, mid)))

    def send(self, data):
        if self.is_open:
            self.channel.send(data)

    async def close(self):
        await self.connection.close()


class ChannelDatagrams(Datagrams):
    """The datagram path of a page, whose only route is the data channel."""

    kind, limit = "webrtc", CHANNEL_LIMIT

    def __init__(self, send, key):
        super().__init__(send, key, True, addresses=[self.kind])
        self.resumes = True

    def call(self, now):
        self.send_datagram(self.hello().ljust(self.limit, b"\0"), self.kind)
        self.hello_at, self.hello_pause = now + self.hello_pause, min(1, self.hello_pause * 1.5)

    def begin(self):
        """Begins again, on a new channel."""
        self.epoch, self.address, self.cookie = self.epoch + 1, None, None
        self.heard, self.probes, self.hello_at, self.hello_pause = False, 0, 0.0, 0.2

    def suspend(self, channels):
        """The channel has closed: what it did not bring to the host goes another way."""
        self.abandon(channels)
        self.address, self.heard, self.hello_at = None, False, float("inf")

    def take(self, data, session):
        if data[0] == RETRY:
            self.take_retry(data, self.kind)
        elif data[0] < HELLO and self.address is not None:
            session.receive_datagram(data)
