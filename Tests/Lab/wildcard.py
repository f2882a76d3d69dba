#!/usr/bin/env python3
"""wildcard.py [DEV]                    holds port 5353 as mDNSResponder does
wildcard.py answer MS [DEV]          answers each query after MS milliseconds, by unicast if it asks for that
wildcard.py ask ADDRESS NAME         asks ADDRESS directly for the A record of NAME, from an ephemeral port

The first form binds the wildcard addresses, so that it receives its unicast only where no other program has bound an
address of the host. It prints "bound" and each unicast query ("asked by ADDRESS") and response ("told by ADDRESS").
For each line "browse TYPE" on its input it browses as `dns-sd -B` does: its first query asks for a unicast response, and
is repeated after a second for a multicast one. It prints "answered MS unicast" or "answered MS multicast".
"""
import os, select, socket, struct, sys, time

PORT, GROUP4, GROUP6 = 5353, "224.0.0.251", "ff02::fb"


def name(text):
    return b"".join(bytes([len(x)]) + x for x in text.encode().strip(b".").split(b".")) + b"\0"


def query(text, qtype, unicast):
    return struct.pack("!6H", 0, 0, 1, 0, 0, 0) + name(text) + struct.pack("!2H", qtype, 0x8001 if unicast else 1)


def open_sockets(dev):
    index, sockets = socket.if_nametoindex(dev), []
    for family in (socket.AF_INET, socket.AF_INET6):
        s = socket.socket(family, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET:
            member = socket.inet_aton(GROUP4) + struct.pack("4si", b"\0" * 4, index)
            s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
            s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("4s4si", b"\0" * 4, b"\0" * 4, index))
            s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
            s.setsockopt(socket.IPPROTO_IP, 8, 1)  # IP_PKTINFO
            s.bind(("", PORT))
        else:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, socket.inet_pton(family, GROUP6) + struct.pack("i", index))
            except OSError: continue  # no IPv6 on this host
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
            s.bind(("::", PORT))
        sockets.append(s)
    return index, sockets


def send(index, sockets, data):
    for s in sockets:
        s.sendto(data, (GROUP4, PORT) if s.family == socket.AF_INET else (GROUP6, PORT, 0, index))


def receive(s):
    """Returns a datagram, its source, and whether it was sent to one host."""
    data, extra, _, source = s.recvmsg(9000, 256)
    info = extra[0][2]
    to = info[8:12] if s.family == socket.AF_INET else info[:16]
    return data, source, to[0] & 0xF0 != 0xE0 if len(to) == 4 else to[0] != 0xFF


def hold(dev):
    index, sockets = open_sockets(dev)
    print("bound", flush=True)
    wanted = begin = again = None
    while True:
        left = max(0, again - time.monotonic()) if again else None
        ready, _, _ = select.select(sockets + [sys.stdin], [], [], left)
        if again and time.monotonic() >= again:
            again = None
            send(index, sockets, query(wanted, 12, False))
        for s in ready:
            if s is sys.stdin:
                line = s.readline()
                if not line: return
                wanted = line.split()[1] + ".local"
                begin = time.monotonic(); again = begin + 1
                send(index, sockets, query(wanted, 12, True))
                continue
            data, source, is_unicast = receive(s)
            is_response = data[2] & 0x80
            if is_unicast: print("told by" if is_response else "asked by", source[0], flush=True)
            if wanted and is_response and name(wanted) in data:
                took = (time.monotonic() - begin) * 1000
                print(f"answered {took:.2f}", "unicast" if is_unicast else "multicast", flush=True)
                wanted = again = None


def answer(delay, dev):
    index, sockets = open_sockets(dev)
    print("bound", flush=True)
    due = []
    while True:
        left = max(0, due[0][0] - time.monotonic()) if due else None
        ready, _, _ = select.select(sockets + [sys.stdin], [], [], left)
        while due and due[0][0] <= time.monotonic():
            _, s, data, to = due.pop(0)
            s.sendto(data, to)
        for s in ready:
            if s is sys.stdin: return
            data, source, _ = receive(s)
            if data[2] & 0x80 or struct.unpack("!H", data[4:6])[0] != 1: continue
            end = data.index(b"\0", 12) + 1
            qtype, qclass = struct.unpack("!2H", data[end:end + 4])
            if qtype != 12: continue
            target = b"\x03Far" + data[12:end]
            reply = struct.pack("!6H", 0, 0x8400, 0, 1, 0, 0) + data[12:end] + struct.pack("!2HIH", 12, 1, 4500, len(target)) + target
            group = (GROUP4, PORT) if s.family == socket.AF_INET else (GROUP6, PORT, 0, index)
            due.append((time.monotonic() + delay, s, reply, source if qclass & 0x8000 else group))


def ask(address, text):
    s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(1)
    s.sendto(query(text, 1, False), (address, PORT))
    try: print("answered by", s.recvfrom(9000)[1][0], flush=True)
    except TimeoutError: print("no answer", flush=True)


words = sys.argv[1:]
if words[:1] == ["ask"]: ask(*words[1:])
elif words[:1] == ["answer"]: answer(float(words[1]) / 1000, words[2] if len(words) > 2 else "eth0")
else: hold(words[0] if words else "eth0")
