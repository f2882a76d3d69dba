#include "session_peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// A path between two interfaces, emulated in user space because a kernel may lack netem. In each
// direction a packet passes a bounded queue, a rate limit, random loss and a delay; lost packets
// also use the rate. Only TCP and UDP are treated so; other frames (ARP) are forwarded at once.
// Frames keep their virtio header, so that the receiving end completes partial checksums.
//
// Commands on standard input: `reset` and `stats` for the counters; `loss P`, a fraction from 0 to
// 1; `rebind`, after which the first side's datagrams have another source port, as if a NAT had
// lost its mapping.

enum { RING = 1 << 16, VNET = sizeof(struct virtio_net_hdr), WAITS = 4096 };
enum { PROTOCOL_AT = VNET + ETH_HLEN + 9, IP_AT = VNET + ETH_HLEN };
#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

typedef struct {
  uint64_t leaves, arrives;
  uint32_t length;
  bool is_lost;
  uint8_t bytes[];
} frame;

typedef struct {
  int from, to;
  frame *ring[RING];
  uint32_t head, leaving, tail;  // ring indexes: next arrival, next to leave the queue, next free
  uint64_t free_at, queued;
  uint64_t packets, bytes, lost, overflowed, delivered;
  uint64_t first_at, largest_at;
  uint32_t largest;
  uint32_t waits[WAITS];  // histogram of the time in the queue, in units of 0.1 ms
} direction;

typedef struct {
  direction directions[2];
  double loss, rate;
  uint64_t delay, queue, random;
  uint16_t port, shift;  // the source port of the first side's datagrams, and its shift by the NAT
} path;

static double chance(path *p) {
  p->random += 0x9e3779b97f4a7c15;
  uint64_t z = p->random;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int open_interface(const char *name) {
  int on = 1, room = 8 << 20;
  int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                .sll_protocol = htons(ETH_P_ALL),
                                .sll_ifindex = (int)if_nametoindex(name)};
  struct packet_mreq all = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
  if (fd < 0 || address.sll_ifindex == 0) return -1;
  setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on);
  setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all);
  return bind(fd, (struct sockaddr *)&address, sizeof address) == 0 ? fd : -1;
}

// The first side's port is in bytes 0 and 1 of its UDP headers, and in bytes 2 and 3 of answers.

static uint16_t read_port(const uint8_t *bytes) { return (uint16_t)(bytes[0] << 8 | bytes[1]); }

/// Writes a port and updates the checksum, unless it is partial: a partial checksum does not
/// include the port.
static void write_port(uint8_t *bytes, uint8_t *sum, bool is_partial, uint16_t port) {
  uint32_t old = read_port(bytes), value = read_port(sum);
  bytes[0] = (uint8_t)(port >> 8);
  bytes[1] = (uint8_t)port;
  if (is_partial || value == 0) return;
  value = (~value & 0xffff) + (~old & 0xffff) + port;
  value = (value & 0xffff) + (value >> 16);
  value = ~((value & 0xffff) + (value >> 16)) & 0xffff;
  sum[0] = (uint8_t)(value >> 8);
  sum[1] = (uint8_t)value;
}

/// Translates a datagram's port as a NAT does. Returns false if the NAT has no mapping for it.
static bool translate(path *p, int index, uint8_t *bytes) {
  const struct virtio_net_hdr *head = (const struct virtio_net_hdr *)bytes;
  uint8_t *udp = bytes + IP_AT + (bytes[IP_AT] & 15) * 4;
  bool is_partial = head->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM;
  if (bytes[PROTOCOL_AT] != IPPROTO_UDP) return true;
  if (index == 0) {
    p->port = read_port(udp);
    if (p->shift > 0) write_port(udp, udp + 6, is_partial, (uint16_t)(p->port + p->shift));
    return true;
  }
  if (p->shift == 0) return true;
  if (read_port(udp + 2) != (uint16_t)(p->port + p->shift)) return false;
  write_port(udp + 2, udp + 6, is_partial, p->port);
  return true;
}

// One direction

static void release(direction *d, uint64_t now) {
  for (; d->leaving != d->tail; d->leaving++) {
    frame *f = d->ring[d->leaving % RING];
    if (f->leaves > now) return;
    d->queued -= f->length;
  }
}

/// Queues an IP packet, or drops it if the queue is full.
static void enqueue(path *p, direction *d, const uint8_t *bytes, size_t count, uint64_t now) {
  uint32_t length = (uint32_t)(count - IP_AT);
  release(d, now);
  d->packets++;
  d->bytes += length;
  if (d->first_at == 0) d->first_at = now;
  if (length > d->largest) {
    d->largest = length;
    d->largest_at = now;
  }
  if (d->queued + length > p->queue || d->tail - d->head == RING) {
    d->overflowed++;
    return;
  }
  frame *f = malloc(sizeof *f + count);
  if (f == NULL) return;
  uint64_t begin = d->free_at > now ? d->free_at : now;
  uint64_t wait = (begin - now) / 100000;
  d->free_at = begin + (uint64_t)((double)length * 8e9 / p->rate);
  d->waits[wait < WAITS ? wait : WAITS - 1]++;
  d->queued += length;
  *f = (frame){.leaves = d->free_at, .arrives = d->free_at + p->delay, .length = length};
  f->is_lost = chance(p) < p->loss;
  d->lost += f->is_lost;
  memcpy(f->bytes, bytes, count);
  d->ring[d->tail++ % RING] = f;
}

static void receive_packets(path *p, int index) {
  static uint8_t bytes[1 << 16];
  direction *d = &p->directions[index];
  for (;;) {
    ssize_t count = recv(d->from, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count <= 0) return;
    uint8_t protocol = count > IP_AT + 20 ? bytes[PROTOCOL_AT] : 0;
    bool is_ip = bytes[VNET + 12] == 8 && bytes[VNET + 13] == 0;
    if (!is_ip || (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)) {
      (void)!send(d->to, bytes, (size_t)count, MSG_DONTWAIT);
    } else if (translate(p, index, bytes)) {
      enqueue(p, d, bytes, (size_t)count, side_now());
    }
  }
}

static void deliver(direction *d, uint64_t now) {
  release(d, now);
  for (; d->head != d->tail; d->head++) {
    frame *f = d->ring[d->head % RING];
    if (f->arrives > now) return;
    if (!f->is_lost) {
      d->delivered += f->length;
      (void)!send(d->to, f->bytes, f->length + IP_AT, MSG_DONTWAIT);
    }
    free(f);
  }
}

// Counters

static void reset(direction *d) {
  d->packets = d->bytes = d->lost = d->overflowed = d->delivered = 0;
  memset(d->waits, 0, sizeof d->waits);
}

static double wait_percentile(const direction *d, double percent) {
  uint64_t all = 0, seen = 0;
  for (int i = 0; i < WAITS; i++) all += d->waits[i];
  for (int i = 0; i < WAITS; i++) {
    seen += d->waits[i];
    if (seen > 0 && (double)seen >= (double)all * percent / 100) return i / 10.0;
  }
  return 0;
}

/// Returns the bytes of the IP packets in the queue or in flight.
static uint64_t flying(const direction *d) {
  uint64_t bytes = 0;
  for (uint32_t i = d->head; i != d->tail; i++) bytes += d->ring[i % RING]->length;
  return bytes;
}

static void print_counters(const direction *d, const char *name) {
  char text[64];
  const struct {
    const char *name;
    double value;
  } figures[] = {{"packets", (double)d->packets},       {"bytes", (double)d->bytes},
                 {"lost", (double)d->lost},             {"overflowed", (double)d->overflowed},
                 {"delivered", (double)d->delivered},   {"wait_p50", wait_percentile(d, 50)},
                 {"wait_p99", wait_percentile(d, 99)},  {"largest", d->largest},
                 {"flying", (double)flying(d)},
                 {"largest_after", (double)(d->largest_at - d->first_at) / 1e6}};
  for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
    snprintf(text, sizeof text, "%s_%s", name, figures[i].name);
    side_figure(text, figures[i].value);
  }
}

/// Executes one command.
static void execute(path *p, const char *line) {
  if (strncmp(line, "reset", 5) == 0) {
    reset(&p->directions[0]);
    reset(&p->directions[1]);
  } else if (strncmp(line, "loss ", 5) == 0) {
    p->loss = atof(line + 5);
  } else if (strncmp(line, "rebind", 6) == 0) {
    p->shift++;
  } else if (strncmp(line, "stats", 5) == 0) {
    print_counters(&p->directions[0], "out");
    print_counters(&p->directions[1], "back");
  }
  side_print("done");
}

/// Executes the commands on standard input. Returns false at its end.
static bool read_commands(path *p) {
  static char text[256];
  static size_t held;
  ssize_t count = read(STDIN_FILENO, text + held, sizeof text - 1 - held);
  if (count <= 0) return false;
  held += (size_t)count;
  text[held] = 0;
  for (char *end = strchr(text, '\n'); end != NULL; end = strchr(text, '\n')) {
    *end = 0;
    execute(p, text);
    held -= (size_t)(end + 1 - text);
    memmove(text, end + 1, held + 1);
  }
  return true;
}

/// Returns the time until the next packet arrives, at most one second.
static struct timespec time_left(const path *p) {
  uint64_t now = side_now(), next = now + 999999999;
  for (int index = 0; index < 2; index++) {
    const direction *d = &p->directions[index];
    if (d->head == d->tail) continue;
    uint64_t arrives = d->ring[d->head % RING]->arrives;
    if (arrives < next) next = arrives;
  }
  return (struct timespec){.tv_nsec = next > now ? (long)(next - now) : 0};
}

int session_path(const char *first, const char *second, const side_options *options) {
  static path p;
  int fds[2] = {open_interface(first), open_interface(second)};
  if (fds[0] < 0 || fds[1] < 0)
    return side_fail("cannot open the interfaces: check their names, and run as root");
  p.loss = side_number(options, "loss", 0);
  p.rate = side_number(options, "rate", 20e6);
  p.delay = (uint64_t)(side_number(options, "delay", 0.05) * 1e9);
  p.queue = (uint64_t)side_number(options, "queue", 250000);
  p.random = (uint64_t)side_number(options, "seed", 1);
  for (int index = 0; index < 2; index++) {
    p.directions[index].from = fds[index];
    p.directions[index].to = fds[1 - index];
  }
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  side_print("ready");
  struct pollfd wait[3] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  for (;;) {
    struct timespec left = time_left(&p);
    int count = ppoll(wait, 3, &left, NULL);
    if (count > 0 && wait[0].revents) receive_packets(&p, 0);
    if (count > 0 && wait[1].revents) receive_packets(&p, 1);
    deliver(&p.directions[0], side_now());
    deliver(&p.directions[1], side_now());
    if (count > 0 && wait[2].revents && !read_commands(&p)) return 0;
  }
}
