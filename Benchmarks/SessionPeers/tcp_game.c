#include "tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "players.h"

// A game server over kernel TCP: one read for each input and one write for each state, which is the
// least that a server without io_uring can do. Each message follows its length in 4 bytes.

enum { LENGTH = 4, EVENTS = 1024, ROOM = 512 };

typedef struct {
  int fd;
  size_t held;           // the bytes of an incomplete message
  uint8_t bytes[ROOM];
} player;

typedef struct {
  int epoll, listener;
  uint32_t wanted, known;
  bool failed;
  player players[PLAYERS_LIMIT];
  uint64_t received, sent;
} game;

static bool watch(game *t, int fd, uint32_t number) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
  return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void accept_player(game *t) {
  int on = 1, fd = accept4(t->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0 || t->known == t->wanted) return;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  t->players[t->known].fd = fd;
  t->failed |= !watch(t, fd, t->known++);
}

/// Removes the complete messages at the start of a player's bytes and counts them.
static void take_messages(game *t, player *p) {
  size_t at = 0;
  for (;;) {
    uint32_t length = 0;
    if (p->held - at < LENGTH) break;
    memcpy(&length, p->bytes + at, LENGTH);
    if (p->held - at < LENGTH + length) break;
    at += LENGTH + length;
    t->received++;
  }
  p->held -= at;
  if (p->held > 0) memmove(p->bytes, p->bytes + at, p->held);
}

static void receive_inputs(game *t, player *p) {
  ssize_t count = recv(p->fd, p->bytes + p->held, ROOM - p->held, MSG_DONTWAIT);
  if (count <= 0) return;
  p->held += (size_t)count;
  take_messages(t, p);
}

static void send_states(game *t) {
  uint8_t bytes[LENGTH + SIDE_STATE] = {SIDE_STATE & 0xFF, SIDE_STATE >> 8};
  for (uint32_t i = 0; i < t->known; i++) {
    ssize_t count = send(t->players[i].fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    t->failed |= count != sizeof bytes;
    t->sent++;
  }
}

/// Receives messages until `time`.
static void receive_until(game *t, uint64_t time) {
  static struct epoll_event events[EVENTS];
  for (uint64_t now = side_now(); now < time; now = side_now()) {
    struct timespec left = {.tv_nsec = (long)(time - now)};
    int count = epoll_pwait2(t->epoll, events, EVENTS, &left, NULL);
    for (int i = 0; i < count; i++) {
      uint32_t number = events[i].data.u32;
      if (number == PLAYERS_LIMIT) {
        accept_player(t);
      } else {
        receive_inputs(t, &t->players[number]);
      }
    }
  }
}

int tcp_serve(const side_options *options) {
  static game t;
  uint64_t ticks = (uint64_t)side_number(options, "ticks", 300);
  t.wanted = (uint32_t)side_number(options, "peers", 100);
  if (t.wanted > PLAYERS_LIMIT) return side_fail("at most 4096 players are possible");
  uint64_t memory = side_memory();
  t.epoll = epoll_create1(EPOLL_CLOEXEC);
  t.listener = tcp_listen(options);
  if (t.listener < 0 || !watch(&t, t.listener, PLAYERS_LIMIT))
    return side_fail("cannot listen on the port");
  while (t.known < t.wanted) receive_until(&t, side_now() + 10000000);
  side_figure("memory", (double)(side_memory() - memory) / t.wanted);
  side_print("full");
  t.received = 0;
  side_cost cost = side_cost_now();
  uint64_t begin = side_now();
  for (uint64_t tick = 0; tick < ticks; tick++) {
    receive_until(&t, begin + tick * 1000000000 / SIDE_HERTZ);
    send_states(&t);
  }
  side_cost_print(&cost, (double)(ticks * t.wanted));
  if (t.failed) return side_fail("a player did not read its states in time");
  side_figure("received", (double)t.received);
  side_figure("sent", (double)t.sent);
  side_figure("datagrams", (double)(t.received + t.sent));
  return side_done();
}

int tcp_play(const side_options *options) { return players_play(options, tcp_connect, LENGTH); }
