#!/usr/bin/env python3
"""A peer for air hockey, written from Carom.docc/WireFormat.md alone.

It joins the host at HOST PORT, or with --serve hosts there, over TCP, UDP or both. It plays for
some seconds, checks that everything it receives conforms to the page, and prints one line of JSON.
Python 3.11 and its standard library; with --security also libsodium.
"""

import argparse
import json
import sys

from client import OFF_RINK, Client
from host import Host


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--serve", action="store_true", help="host a match; port 0: any")
    parser.add_argument("--transport", choices=["tcp", "udp", "both"], default="tcp")
    parser.add_argument("--seconds", type=float, default=10, help="of play, from the first state")
    parser.add_argument("--name", default="Python")
    parser.add_argument("--loss", type=float, default=0, help="share of datagrams to drop")
    parser.add_argument("--seed", type=int, default=1, help="seed for the dropped datagrams")
    parser.add_argument("--security", choices=["none", "anyone", "code", "token"],
        default="none")
    parser.add_argument("--code", help="a join code, with --security code")
    parser.add_argument("--token", help="a client's file with a connect token and its player, in "
        "JSON, with --security token")
    parser.add_argument("--key", help="a host's file with the key of its backend, in hexadecimal, "
        "with --security token")
    parser.add_argument("--host-key", help="the key in hexadecimal that a client believes the host "
        "to have, with --security anyone")
    parser.add_argument("--lifetime", type=int, help="the number of packets of a key")
    parser.add_argument("--garbage", help="bytes in hexadecimal to send after the grant, or "
        f"'{OFF_RINK}' for mallets outside the rink")
    options = parser.parse_args()
    peer = Host(options) if options.serve else Client(options)
    peer.run()
    print(json.dumps(peer.summary()))
    return 1 if peer.violations else 0


if __name__ == "__main__":
    sys.exit(main())
