#include "session_flood.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "session_sides.h"

// Each address sends a run of equal datagrams in one buffer, which the kernel divides, so that
// sending the flood costs less than receiving it.

enum { RUNS = 8, RUN = 32, LARGEST_RUN = 65000, ADDRESSES = 0x7F020000, KINDS = 16 };

typedef union {
  struct cmsghdr header;  // for alignment
  uint8_t bytes[CMSG_SPACE(sizeof(struct in_pktinfo)) + CMSG_SPACE(sizeof(uint16_t))];
} control;

typedef struct {
  int fd;
  struct mmsghdr messages[RUNS];
  struct iovec parts[RUNS][RUN];
  control controls[RUNS];
  struct sockaddr_in target;
  struct iovec kinds[KINDS];
  uint32_t next, count;
} flood;

static int open_flood(void) {
  struct sockaddr_in local = {.sin_family = AF_INET};
  int little = 4096, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  // The answers are not read.
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
  return bind(fd, (struct sockaddr *)&local, sizeof local) == 0 ? fd : -1;
}

static void choose(struct msghdr *header, control *space, uint32_t address, uint16_t segment) {
  struct in_pktinfo info = {.ipi_spec_dst.s_addr = htonl(address)};
  memset(space, 0, sizeof *space);
  header->msg_control = space->bytes;
  header->msg_controllen = sizeof space->bytes;
  struct cmsghdr *c = CMSG_FIRSTHDR(header);
  c->cmsg_level = IPPROTO_IP;
  c->cmsg_type = IP_PKTINFO;
  c->cmsg_len = CMSG_LEN(sizeof info);
  memcpy(CMSG_DATA(c), &info, sizeof info);
  c = CMSG_NXTHDR(header, c);
  c->cmsg_level = IPPROTO_UDP;
  c->cmsg_type = UDP_SEGMENT;
  c->cmsg_len = CMSG_LEN(sizeof segment);
  memcpy(CMSG_DATA(c), &segment, sizeof segment);
}

/// Fills the message at index `place` with `count` copies of the next datagram, from the next
/// address. Returns the number of copies, which is smaller if they would exceed LARGEST_RUN bytes.
static size_t fill(flood *f, int place, size_t count) {
  struct iovec kind = f->kinds[f->next % f->count];
  struct msghdr *header = &f->messages[place].msg_hdr;
  if (count * kind.iov_len > LARGEST_RUN) count = LARGEST_RUN / kind.iov_len;
  for (size_t i = 0; i < count; i++) f->parts[place][i] = kind;
  *header = (struct msghdr){.msg_name = &f->target,
                            .msg_namelen = sizeof f->target,
                            .msg_iov = f->parts[place],
                            .msg_iovlen = count};
  choose(header, &f->controls[place], ADDRESSES + (f->next++ & 0xFFFF), (uint16_t)kind.iov_len);
  return count;
}

static void sleep_until(uint64_t time) {
  struct timespec t = {.tv_sec = (time_t)(time / 1000000000), .tv_nsec = (long)(time % 1000000000)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/// Sends `rate` datagrams a second at equal intervals.
static void send_evenly(flood *f, double rate) {
  uint64_t begin = side_now(), sent = 0;
  for (;;) {
    sleep_until(begin + (uint64_t)((double)sent * 1e9 / rate));
    sent += fill(f, 0, RUN / 2);
    (void)!sendmmsg(f->fd, f->messages, 1, MSG_NOSIGNAL);
  }
}

int side_flood(uint16_t port, const uint8_t *bytes, const size_t *lengths, size_t count,
               double rate) {
  static flood f;
  f.fd = open_flood();
  if (f.fd < 0) return side_fail("cannot open a socket for the flood");
  if (count == 0 || count > KINDS) return side_fail("a flood needs 1 to 16 kinds of datagrams");
  f.target = (struct sockaddr_in){.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (f.count = 0; f.count < count; f.count++) {
    f.kinds[f.count] = (struct iovec){(void *)bytes, lengths[f.count]};
    bytes += lengths[f.count];
  }
  side_print("ready");
  if (rate > 0) send_evenly(&f, rate);
  for (;;) {
    for (int place = 0; place < RUNS; place++) fill(&f, place, RUN);
    (void)!sendmmsg(f.fd, f.messages, RUNS, MSG_NOSIGNAL);
  }
}
