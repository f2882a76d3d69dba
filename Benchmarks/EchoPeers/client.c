#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// The load generator. It polls without sleeping, so that round trips do not include its wake-ups.

enum { ANSWER_LIMIT = 200 * 1000 * 1000 };  // nanoseconds until a message counts as lost

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int open_client(uint16_t port, bool tcp) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                .sin_port = htons(port)};
  int on = 1;
  int fd = socket(AF_INET, (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    close(fd);
    return -1;
  }
  if (tcp) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

/// Reads until `count` bytes have arrived or ANSWER_LIMIT has passed.
static bool receive(int fd, char *bytes, size_t count) {
  uint64_t limit = now() + ANSWER_LIMIT;
  for (size_t got = 0; got < count;) {
    ssize_t step = recv(fd, bytes + got, count - got, MSG_DONTWAIT);
    if (step > 0) {
      got += (size_t)step;
    } else if (now() > limit) {
      return false;
    }
  }
  return true;
}

static uint64_t times[ECHO_PACED];
static size_t answered;

size_t echo_paced(uint16_t port, bool tcp, size_t count, uint64_t interval) {
  char bytes[ECHO_BYTES] = {0};
  answered = 0;
  if (count > ECHO_PACED) count = ECHO_PACED;
  int fd = open_client(port, tcp);
  if (fd < 0) return 0;
  uint64_t next = now();
  for (size_t index = 0; index < count; index++) {
    while (now() < next) continue;
    uint64_t start = now();
    if (send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) != sizeof bytes) break;
    if (!receive(fd, bytes, sizeof bytes)) break;
    times[answered++] = now() - start;
    next = start + interval;
    if (next < now()) next = now() + interval / 2;
  }
  close(fd);
  return answered;
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

uint64_t echo_percentile(double percent) {
  if (answered == 0) return 0;
  qsort(times, answered, sizeof times[0], compare);
  size_t index = (size_t)((double)answered * percent / 100);
  return times[index < answered ? index : answered - 1];
}

typedef struct {
  struct mmsghdr messages[ECHO_WINDOW];
  struct iovec parts[ECHO_WINDOW];
  char bytes[ECHO_WINDOW][ECHO_BYTES];
} window;

static uint64_t window_udp(int fd, size_t count) {
  static window w;
  memset(&w, 0, sizeof w);
  for (int i = 0; i < ECHO_WINDOW; i++) {
    w.parts[i] = (struct iovec){w.bytes[i], ECHO_BYTES};
    w.messages[i].msg_hdr = (struct msghdr){.msg_iov = &w.parts[i], .msg_iovlen = 1};
  }
  uint64_t start = now(), last = start;
  size_t back = 0;
  int wanted = ECHO_WINDOW;
  while (back < count) {
    if (wanted > 0) sendmmsg(fd, w.messages, (unsigned)wanted, 0);
    wanted = recvmmsg(fd, w.messages, ECHO_WINDOW, MSG_DONTWAIT, NULL);
    if (wanted > 0) {
      back += (size_t)wanted;
      last = now();
    } else if (now() - last > ANSWER_LIMIT) {
      return 0;  // messages were lost, so the round does not count
    }
  }
  return now() - start;
}

static uint64_t window_tcp(int fd, size_t count) {
  static char bytes[ECHO_WINDOW * ECHO_BYTES];
  size_t total = count * ECHO_BYTES, got = 0;
  uint64_t start = now(), last = start;
  if (send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) != sizeof bytes) return 0;
  while (got < total) {
    ssize_t step = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (step > 0) {
      got += (size_t)step;
      last = now();
      if (send(fd, bytes, (size_t)step, MSG_NOSIGNAL) != step) return 0;
    } else if (now() - last > ANSWER_LIMIT) {
      return 0;
    }
  }
  return now() - start;
}

uint64_t echo_windowed(uint16_t port, bool tcp, size_t count) {
  int fd = open_client(port, tcp);
  if (fd < 0) return 0;
  uint64_t time = tcp ? window_tcp(fd, count) : window_udp(fd, count);
  close(fd);
  return time;
}

/// Sends as much as the socket accepts of a stream that repeats the `length` bytes of `message`, up
/// to `limit` bytes in all. Adds the sent bytes to `sent`; returns false on failure.
static bool send_some(int fd, const char *message, size_t length, size_t limit, size_t *sent) {
  while (*sent < limit) {
    size_t place = *sent % length;
    ssize_t step = send(fd, message + place, length - place, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (step <= 0) return errno == EAGAIN;
    *sent += (size_t)step;
  }
  return true;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static bool run_frames(int fd, const char *message, size_t length, size_t count, size_t window) {
  static char answer[1 << 16];
  size_t sent = 0, got = 0;
  uint64_t begin = now(), last = begin;
  while (got < count * length) {
    size_t limit = smaller(count * length, (got / length + window) * length);
    if (!send_some(fd, message, length, limit, &sent)) return false;
    ssize_t step = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
    if (step == 0 || now() - last > ANSWER_LIMIT) return false;
    if (step < 0) continue;
    size_t whole = got / length;
    got += (size_t)step;
    last = now();
    if (window == 1 && got / length > whole && answered < ECHO_PACED) {
      times[answered++] = last - begin;
      begin = last;
    }
  }
  return true;
}

uint64_t echo_frames(uint16_t port, size_t length, size_t count, size_t window) {
  answered = 0;
  int fd = open_client(port, true);
  char *message = calloc(1, length);
  bool done = false;
  uint64_t start = now();
  if (fd >= 0 && message != NULL && length >= ECHO_HEADER) {
    for (int index = 0; index < 8; index++) {
      message[index] = (char)((length - ECHO_HEADER) >> (8 * index));
    }
    start = now();
    done = run_frames(fd, message, length, count, window);
  }
  uint64_t time = now() - start;
  free(message);
  if (fd >= 0) close(fd);
  return done ? time : 0;
}
