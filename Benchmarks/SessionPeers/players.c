#include "players.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

// The players send in groups of a hundred, so that the server's wake-ups for each do not depend on
// their number.

enum { GROUP = 100, ROOM = 4096 };

typedef struct {
  struct pollfd fds[PLAYERS_LIMIT];
  uint32_t count;
  size_t prefix;
  uint64_t received_bytes, latest;
} crowd;

static void send_inputs(crowd *c, uint32_t from) {
  uint8_t bytes[4 + SIDE_INPUT] = {SIDE_INPUT};
  for (uint32_t i = from; i < from + GROUP && i < c->count; i++) {
    memcpy(bytes + c->prefix, &i, sizeof i);
    send(c->fds[i].fd, bytes, c->prefix + SIDE_INPUT, MSG_NOSIGNAL);
  }
}

static void receive_states(crowd *c) {
  uint8_t bytes[ROOM];
  if (poll(c->fds, c->count, 0) < 1) return;
  for (uint32_t i = 0; i < c->count; i++) {
    ssize_t step;
    if (!(c->fds[i].revents & POLLIN)) continue;
    while ((step = recv(c->fds[i].fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
      c->received_bytes += (uint64_t)step;
    if (step == 0) c->fds[i].fd = -1;  // the server has ended
  }
  c->latest = side_now();
}

int players_play(const side_options *options, int (*open)(const side_options *), size_t prefix) {
  static crowd c;
  uint64_t ticks = (uint64_t)side_number(options, "ticks", 300);
  uint64_t hertz = (uint64_t)side_number(options, "hertz", SIDE_HERTZ);
  c.count = (uint32_t)side_number(options, "peers", 100);
  c.prefix = prefix;
  if (c.count > PLAYERS_LIMIT) return side_fail("at most 4096 players are possible");
  for (uint32_t i = 0; i < c.count; i++) {
    c.fds[i] = (struct pollfd){.fd = open(options), .events = POLLIN};
    if (c.fds[i].fd < 0)
      return side_fail("cannot open a socket for each player: raise ulimit -n");
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
  side_figure("arrived", (double)(c.received_bytes / (prefix + SIDE_STATE)));
  return side_done();
}
