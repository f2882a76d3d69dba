#!/usr/bin/env python3
"""halfopen.py HOST PORT NETWORK SECONDS - half-open handshakes with a Carom host over TCP and UDP, from every address of NETWORK (local ones of this host). Lab only."""
import ipaddress, json, os, select, socket, struct, sys, time

HOST, PORT = sys.argv[1], int(sys.argv[2])
SOURCES = [str(address) for address in ipaddress.ip_network(sys.argv[3])]
END = time.monotonic() + float(sys.argv[4])
HELLO = struct.Struct("<B4sH16sIBQ")  # see WireFormat, "Hello"
OFFER = 3                             # both ciphers, pattern XX
count = dict(hellos=0, cookies=0, answers=0, streams=0, streamAnswers=0, resets=0)
sockets, keys, streams, waiting = {}, {}, [], 0
poll = select.epoll()


def datagrams(source):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((source, 0)); udp.connect((HOST, PORT)); udp.setblocking(False)
    poll.register(udp.fileno(), select.EPOLLIN); sockets[udp.fileno()] = udp
    return udp


def hello(udp):
    keys[udp.fileno()] = key = os.urandom(16)
    udp.send(HELLO.pack(0x80, b"CRM3", 3, key, 1, 0, 0).ljust(1200, b"\0")); count["hellos"] += 1


def first_message():
    return bytes([OFFER]) + os.urandom(32)  # any 32 bytes are a public key


def take(udp, data):
    key = keys[udp.fileno()]
    if data[0] == 0x81 and len(data) == 17:
        (cookie,) = struct.unpack_from("<Q", data, 1); count["cookies"] += 1
        message = first_message()
        udp.send(HELLO.pack(0x80, b"CRM3", 3, key, 1, 0, cookie)
                 + struct.pack("<BB8sB", 0x83, 1, key[:8], len(message)) + message)
    elif data[0] == 0x83:
        count["answers"] += 1  # the host has done its public-key operations; nobody goes on


def stream(source):
    tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    tcp.bind((source, 0)); tcp.setblocking(False); tcp.connect_ex((HOST, PORT)); count["streams"] += 1
    poll.register(tcp.fileno(), select.EPOLLOUT); sockets[tcp.fileno()] = tcp; streams.append(tcp)
    return tcp


def close(tcp):
    poll.unregister(tcp.fileno()); del sockets[tcp.fileno()]; streams.remove(tcp); tcp.close()


def begin(tcp):
    """Every other stream says nothing at all."""
    poll.modify(tcp.fileno(), select.EPOLLIN)
    if count["streams"] % 2:
        body = struct.pack("<HHH", 1, 8, 3) + first_message()
        tcp.send(struct.pack("<Q", len(body)) + body)


udps = [datagrams(source) for source in SOURCES]
print("ready", flush=True)
turn = 0
while (now := time.monotonic()) < END:
    for _ in range(16):
        turn += 1
        try: hello(udps[turn % len(udps)])
        except OSError: pass
    while len(streams) > 2000: close(streams[0])
    stream(SOURCES[turn // 16 % len(SOURCES)])
    for number, event in poll.poll(0.002):
        each = sockets.get(number)
        try:
            if each in streams and event & select.EPOLLOUT and not event & (select.EPOLLERR | select.EPOLLHUP): begin(each)
            elif each in streams:
                if each.recv(4096): count["streamAnswers"] += 1
                else: count["resets"] += 1; close(each)
            else: take(each, each.recv(4096))
        except BlockingIOError: pass
        except OSError:
            if each in streams: count["resets"] += 1; close(each)
print(json.dumps(count), flush=True)
