#!/usr/bin/env python3
"""Writes messages.txt: DNS updates and responses that dnspython has signed, with a fixed key and time.

Each line is a name and the message in hexadecimal. The key is "game-key" with the secret 00 01 .. 1f.
"""
import pathlib
import time

import dns.message
import dns.name
import dns.rcode
import dns.tsig
import dns.update

NOW = 1_764_180_000
KEY = dns.tsig.Key("game-key", bytes(range(32)), "hmac-sha256")
ZONE = "play.example."
TYPE = dns.name.from_text("_game._udp." + ZONE)
INSTANCE = dns.name.Name(("Ann's café. table 1".encode(),) + TYPE.labels)
# A name that shares no label with the others: dnspython compresses the targets of SRV records, which
# RFC 2782 forbids.
HOST = "ann.test."

time.time = lambda: NOW


def signed(update):
    update.id = 0x1234
    update.use_tsig(KEY, fudge=300)
    return update


def claim():
    update = dns.update.UpdateMessage(ZONE)
    update.absent(INSTANCE)
    update.add(TYPE, 60, "PTR", INSTANCE.to_text())
    update.add(INSTANCE, 60, "SRV", "0 0 4242 " + HOST)
    update.add(INSTANCE, 60, "TXT", '"txtvers=1" "players=2/4"')
    update.add(HOST, 60, "A", "192.0.2.9")
    return signed(update)


def removal():
    update = dns.update.UpdateMessage(ZONE)
    update.present(INSTANCE, "SRV", "0 0 4242 " + HOST)
    update.delete(TYPE, "PTR", INSTANCE.to_text())
    update.delete(INSTANCE)
    update.delete(HOST, "A")
    return signed(update)


def response(request, code=0, tsig_error=0, other=b""):
    parsed = dns.message.from_wire(request.to_wire(), keyring={KEY.name: KEY})
    answer = dns.message.make_response(parsed, tsig_error=tsig_error)
    answer.set_rcode(code)
    answer.other_data = other
    if other:
        answer.use_tsig(KEY, fudge=300, original_id=answer.id, tsig_error=tsig_error, other_data=other)
        answer.request_mac = parsed.mac
    return answer.to_wire()


request = claim()
messages = {
    "claim": request.to_wire(),
    "removal": removal().to_wire(),
    "success": response(request),
    "in-use": response(request, dns.rcode.YXDOMAIN),
    "bad-time": response(request, dns.rcode.NOTAUTH, 18, (NOW + 301).to_bytes(6, "big")),
}
text = "".join(f"{name} {wire.hex()}\n" for name, wire in messages.items())
pathlib.Path(__file__).with_name("messages.txt").write_text(text)
