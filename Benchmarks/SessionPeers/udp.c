#include "session_peers.h"
#include "udp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Plain datagrams without a protocol: the lower bound of the cost.

int udp_open(const side_options *options, bool listens) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)side_number(options, "port", 0))};
  int room = 4 << 20, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (!listens) {
    inet_pton(AF_INET, side_text(options, "address", "127.0.0.1"), &address.sin_addr);
  }
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  const struct sockaddr *name = (struct sockaddr *)&address;
  int status = listens ? bind(fd, name, sizeof address) : connect(fd, name, sizeof address);
  if (status == 0) return fd;
  close(fd);
  return -1;
}

void udp_listens(int fd) {
  struct sockaddr_in address = {0};
  socklen_t length = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &length) == 0) {
    side_listens(ntohs(address.sin_port));
  }
}

static int receive(const side_options *options) {
  side_meter meter = side_meter_make(options);
  uint8_t bytes[2048];
  int fd = udp_open(options, true);
  if (fd < 0) return side_fail("cannot open a UDP socket");
  udp_listens(fd);
  while (!side_meter_is_done(&meter)) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, 5) < 1) continue;
    ssize_t step = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (step > 0) side_meter_record(&meter, bytes, (size_t)step);
  }
  side_meter_print(&meter);
  return side_done();
}

static int send_messages(const side_options *options) {
  uint8_t bytes[2048] = {0};
  int fd = udp_open(options, false);
  if (fd < 0) return side_fail("cannot open a UDP socket");
  side_source source = side_source_make(options);
  if (source.bulk) return side_fail("plain datagrams cannot send bulk, which must be reliable");
  side_print("ready");
  for (;;) {
    side_kind kind;
    size_t length = side_source_pop_due(&source, bytes, &kind);
    if (length > 0) {
      send(fd, bytes, length, MSG_NOSIGNAL);
    } else {
      struct timespec time = {.tv_nsec = (long)side_source_time_until_next(&source)};
      ppoll(NULL, 0, &time, NULL);
    }
  }
}

static int answer(const side_options *options) {
  uint8_t bytes[2048];
  struct sockaddr_in name;
  socklen_t length = sizeof name;
  int fd = udp_open(options, true);
  if (fd < 0) return side_fail("cannot open a UDP socket");
  udp_listens(fd);
  for (;;) {
    ssize_t step = recvfrom(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&name, &length);
    if (step > 0) sendto(fd, bytes, (size_t)step, 0, (struct sockaddr *)&name, length);
  }
}

/// Waits for the answer without sleeping, so that round trips do not include this side's wake-ups.
static bool receive_answer(int fd, uint64_t limit) {
  uint8_t bytes[2048];
  while (side_now() < limit) {
    if (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) return true;
  }
  return false;
}

static int ask(const side_options *options) {
  uint8_t bytes[SIDE_ECHO] = {0};
  side_samples times = {0};
  size_t count = (size_t)side_number(options, "count", 2000);
  uint64_t interval = (uint64_t)(side_number(options, "interval", 50e-6) * 1e9);
  int fd = udp_open(options, false);
  if (fd < 0) return side_fail("cannot open a UDP socket");
  uint64_t next = side_now();
  for (size_t i = 0; i < count; i++) {
    while (side_now() < next) continue;
    uint64_t begin = side_now();
    send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
    if (receive_answer(fd, begin + 200000000)) side_samples_add(&times, side_now() - begin);
    next = begin + interval;
    if (next < side_now()) next = side_now() + interval / 2;
  }
  side_samples_print(&times, "echo");
  return side_done();
}

int session_udp(const char *role, const side_options *options) {
  side_begin(options);
  if (strcmp(role, "receive") == 0) return receive(options);
  if (strcmp(role, "send") == 0) return send_messages(options);
  if (strcmp(role, "answer") == 0) return answer(options);
  if (strcmp(role, "ask") == 0) return ask(options);
  if (strcmp(role, "serve") == 0) return udp_serve(options);
  if (strcmp(role, "play") == 0) return udp_play(options);
  return side_fail("plain datagrams cannot play this role");
}
