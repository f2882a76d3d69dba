#include "udp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// A game server and its players over plain datagrams.

enum { BATCH = 64, SLOT = 512, PLAYERS = 4096 };

typedef struct {
  struct mmsghdr messages[BATCH];
  struct iovec parts[BATCH];
  struct sockaddr_in names[BATCH];
  uint8_t bytes[BATCH][SLOT];
} batch;

static void prepare(batch *b, size_t length) {
  for (int i = 0; i < BATCH; i++) {
    b->parts[i] = (struct iovec){b->bytes[i], length};
    b->messages[i].msg_hdr = (struct msghdr){.msg_name = &b->names[i],
                                             .msg_namelen = sizeof b->names[i],
                                             .msg_iov = &b->parts[i],
                                             .msg_iovlen = 1};
  }
}

// Server: each datagram of a player starts with its number

typedef struct {
  int fd;
  uint32_t players, known;
  struct sockaddr_in names[PLAYERS];
  uint64_t received, sent;
} game;

static void receive_inputs(game *t, batch *b) {
  for (;;) {
    prepare(b, SLOT);
    int count = recvmmsg(t->fd, b->messages, BATCH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < count; i++) {
      uint32_t number = 0;
      memcpy(&number, b->bytes[i], sizeof number);
      if (number >= PLAYERS) continue;
      if (t->names[number].sin_port == 0) t->known++;
      t->names[number] = b->names[i];
      t->received++;
    }
    if (count < BATCH) return;
  }
}

static void send_states(game *t, batch *b) {
  prepare(b, SIDE_STATE);
  for (uint32_t at = 0; at < t->players; at += BATCH) {
    uint32_t count = t->players - at < BATCH ? t->players - at : BATCH;
    for (uint32_t i = 0; i < count; i++) b->names[i] = t->names[at + i];
    int sent = sendmmsg(t->fd, b->messages, count, 0);
    if (sent > 0) t->sent += (uint64_t)sent;
  }
}

/// Receives datagrams until `time`.
static void receive_until(game *t, batch *b, uint64_t time) {
  for (uint64_t now = side_now(); now < time; now = side_now()) {
    struct pollfd wait = {.fd = t->fd, .events = POLLIN};
    struct timespec left = {.tv_nsec = (long)(time - now)};
    if (ppoll(&wait, 1, &left, NULL) > 0) receive_inputs(t, b);
  }
}

int udp_serve(const side_options *options) {
  static game t;
  static batch b;
  uint64_t ticks = (uint64_t)side_number(options, "ticks", 300);
  uint64_t hertz = (uint64_t)side_number(options, "hertz", SIDE_HERTZ);
  t.players = (uint32_t)side_number(options, "peers", 100);
  t.fd = udp_open(options, true);
  if (t.fd < 0) return side_fail("cannot open a UDP socket");
  if (t.players > PLAYERS) return side_fail("at most 4096 players are possible");
  udp_listens(t.fd);
  while (t.known < t.players) receive_until(&t, &b, side_now() + 10000000);
  t.received = 0;
  uint64_t begin = side_now(), cpu = side_cpu();
  for (uint64_t tick = 0; tick < ticks; tick++) {
    receive_until(&t, &b, begin + tick * 1000000000 / hertz);
    send_states(&t, &b);
  }
  side_figure("cpu", (double)(side_cpu() - cpu) / (double)(ticks * t.players));
  side_figure("received", (double)t.received);
  side_figure("sent", (double)t.sent);
  side_figure("datagrams", (double)(t.received + t.sent));
  return side_done();
}

// Players, who send in groups of a hundred, so that the server's wake-ups for each do not depend on
// their number

enum { GROUP = 100 };

typedef struct {
  struct pollfd fds[PLAYERS];
  uint32_t count;
  uint64_t received, latest;
} crowd;

static void send_inputs(crowd *c, uint32_t from) {
  uint8_t bytes[SIDE_INPUT] = {0};
  for (uint32_t i = from; i < from + GROUP && i < c->count; i++) {
    memcpy(bytes, &i, sizeof i);
    send(c->fds[i].fd, bytes, sizeof bytes, MSG_NOSIGNAL);
  }
}

static void receive_states(crowd *c) {
  uint8_t bytes[SLOT];
  if (poll(c->fds, c->count, 0) < 1) return;
  for (uint32_t i = 0; i < c->count; i++) {
    if (!(c->fds[i].revents & POLLIN)) continue;
    while (recv(c->fds[i].fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) c->received++;
  }
  c->latest = side_now();
}

int udp_play(const side_options *options) {
  static crowd c;
  uint64_t ticks = (uint64_t)side_number(options, "ticks", 300);
  uint64_t hertz = (uint64_t)side_number(options, "hertz", SIDE_HERTZ);
  c.count = (uint32_t)side_number(options, "peers", 100);
  if (c.count > PLAYERS) return side_fail("at most 4096 players are possible");
  for (uint32_t i = 0; i < c.count; i++) {
    c.fds[i] = (struct pollfd){.fd = udp_open(options, false), .events = POLLIN};
    if (c.fds[i].fd < 0)
      return side_fail("cannot open a UDP socket for each player: raise ulimit -n");
  }
  side_print("ready");
  uint64_t begin = side_now(), slots = (c.count + GROUP - 1) / GROUP;
  // The players start before the server's first tick and stop after its last one.
  for (uint64_t slot = 0; slot < (ticks + hertz) * slots; slot++) {
    uint64_t time = begin + slot * 1000000000 / (hertz * slots);
    while (side_now() < time) receive_states(&c);
    send_inputs(&c, (uint32_t)(slot % slots) * GROUP);
  }
  while (side_now() < c.latest + 300000000) receive_states(&c);
  side_figure("arrived", (double)c.received);
  return side_done();
}
