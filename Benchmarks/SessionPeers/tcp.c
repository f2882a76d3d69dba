#include "tcp.h"

#include "session_peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Messages over kernel TCP in the usual way: each after its length, without Nagle's algorithm, and
// queued here rather than in the kernel. The option `control` names the congestion control.

enum { LENGTH = 4, MESSAGE = LENGTH + SIDE_BULK, NOT_SENT = 16 * 1024 };

static void set_up(int fd, const side_options *options) {
  int on = 1, low = NOT_SENT;
  const char *control = side_text(options, "control", "cubic");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low, sizeof low);
  setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, (socklen_t)strlen(control));
}

// Receive

int tcp_listen(const side_options *options) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)side_number(options, "port", 0))};
  socklen_t length = sizeof address;
  int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0) return -1;
  if (listen(listener, SOMAXCONN) != 0) return -1;
  if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) return -1;
  side_listens(ntohs(address.sin_port));
  return listener;
}

static int accept_one(const side_options *options) {
  int listener = tcp_listen(options);
  if (listener < 0) return -1;
  int fd = accept(listener, NULL, NULL);
  close(listener);
  return fd;
}

/// Records the complete messages at the start of `bytes` and returns the number of their bytes.
static size_t record_messages(side_meter *meter, const uint8_t *bytes, size_t count) {
  size_t at = 0;
  for (;;) {
    uint32_t length = 0;
    if (count - at < LENGTH) return at;
    memcpy(&length, bytes + at, LENGTH);
    if (length > SIDE_BULK || count - at < LENGTH + length) return at;
    side_meter_record(meter, bytes + at + LENGTH, length);
    at += LENGTH + length;
  }
}

static int receive(const side_options *options) {
  static uint8_t bytes[16 * MESSAGE];
  side_meter meter = side_meter_make(options);
  size_t held = 0;
  int fd = accept_one(options);
  if (fd < 0) return side_fail("cannot listen on the port, or nobody connected");
  while (!side_meter_is_done(&meter)) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, 5) < 1) continue;
    ssize_t step = recv(fd, bytes + held, sizeof bytes - held, MSG_DONTWAIT);
    if (step == 0) break;
    if (step < 0) continue;
    held += (size_t)step;
    size_t recorded = record_messages(&meter, bytes, held);
    held -= recorded;
    memmove(bytes, bytes + recorded, held);
  }
  side_meter_print(&meter);
  return side_done();
}

// Send

typedef struct {
  int fd;
  uint8_t bytes[MESSAGE];  // the message that is being written to the socket
  size_t length, sent;
} outlet;

static bool is_idle(const outlet *out) { return out->sent == out->length; }

static void push(outlet *out) {
  while (!is_idle(out)) {
    ssize_t step = send(out->fd, out->bytes + out->sent, out->length - out->sent,
                        MSG_DONTWAIT | MSG_NOSIGNAL);
    if (step <= 0) return;
    out->sent += (size_t)step;
  }
}

static void put(outlet *out, size_t length) {
  uint32_t word = (uint32_t)length;
  memcpy(out->bytes, &word, LENGTH);
  out->length = LENGTH + length;
  out->sent = 0;
  push(out);
}

int tcp_connect(const side_options *options) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)side_number(options, "port", 0))};
  inet_pton(AF_INET, side_text(options, "address", "127.0.0.1"), &address.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  set_up(fd, options);
  return connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? fd : -1;
}

static int connect_to_receiver(const side_options *options) {
  uint64_t begin = side_now();
  int fd = tcp_connect(options);
  if (fd < 0) return -1;
  side_figure("connect", (double)(side_now() - begin) / 1e3);
  side_print("ready");
  return fd;
}

static int send_messages(const side_options *options) {
  static outlet out;
  out.fd = connect_to_receiver(options);
  if (out.fd < 0) return side_fail("cannot connect to the receiver");
  side_source source = side_source_make(options);
  for (;;) {
    side_kind kind;
    size_t length = 0;
    struct pollfd wait = {.fd = out.fd, .events = POLLOUT};
    push(&out);
    if (is_idle(&out)) length = side_source_pop_due(&source, out.bytes + LENGTH, &kind);
    if (length > 0) {
      put(&out, length);
      continue;
    }
    bool wants_out = source.bulk || !is_idle(&out);
    struct timespec time = {.tv_nsec = (long)side_source_time_until_next(&source)};
    if (ppoll(&wait, wants_out ? 1 : 0, &time, NULL) < 1) continue;
    if (wait.revents & (POLLERR | POLLHUP)) return side_fail("the receiver closed the connection");
    if (source.bulk && is_idle(&out)) {
      side_stamp(out.bytes + LENGTH, SIDE_IS_BULK, 0);
      put(&out, SIDE_BULK);
    }
  }
}

int session_tcp(const char *role, const side_options *options) {
  side_begin(options);
  if (strcmp(role, "receive") == 0) return receive(options);
  if (strcmp(role, "send") == 0) return send_messages(options);
  if (strcmp(role, "serve") == 0) return tcp_serve(options);
  if (strcmp(role, "play") == 0) return tcp_play(options);
  return side_fail("TCP can only receive, send, serve or play");
}
