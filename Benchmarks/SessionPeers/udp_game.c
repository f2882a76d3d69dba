#include "udp.h"

#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "players.h"

// A game server over plain datagrams.

enum { BATCH = 64, SLOT = 512, PLAYERS = PLAYERS_LIMIT };

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
  side_cost cost = side_cost_now();
  uint64_t begin = side_now();
  for (uint64_t tick = 0; tick < ticks; tick++) {
    receive_until(&t, &b, begin + tick * 1000000000 / hertz);
    send_states(&t, &b);
  }
  side_cost_print(&cost, (double)(ticks * t.players));
  side_figure("received", (double)t.received);
  side_figure("sent", (double)t.sent);
  side_figure("datagrams", (double)(t.received + t.sent));
  return side_done();
}

static int open_player(const side_options *options) { return udp_open(options, false); }

int udp_play(const side_options *options) { return players_play(options, open_player, 0); }
