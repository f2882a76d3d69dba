#include "session_crowd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "session_sides.h"

enum { SLOT = 2048, ADDRESSES = 0x7F010000 };

typedef union {
  struct cmsghdr header;  // for alignment
  uint8_t bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
} control;

typedef struct {
  struct mmsghdr messages[CROWD_BATCH];
  struct iovec parts[CROWD_BATCH];
  control controls[CROWD_BATCH];
  uint8_t bytes[CROWD_BATCH][SLOT];
} batch;

struct side_crowd {
  int fd, queued;
  struct sockaddr_in server;
  batch in, out;
};

side_crowd *side_crowd_open(uint16_t port) {
  int room = 8 << 20, on = 1, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in local = {.sin_family = AF_INET};
  side_crowd *crowd = calloc(1, sizeof *crowd);
  if (fd < 0 || crowd == NULL || bind(fd, (struct sockaddr *)&local, sizeof local) != 0 ||
      setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on) != 0) {
    if (fd >= 0) close(fd);
    free(crowd);
    return NULL;
  }
  // The states of one tick for a thousand players need more room than the system's usual limit.
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  crowd->fd = fd;
  crowd->server = (struct sockaddr_in){.sin_family = AF_INET,
                                       .sin_port = htons(port),
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return crowd;
}

// Sending

static void choose_address(control *space, struct msghdr *header, uint32_t player) {
  struct in_pktinfo info = {.ipi_spec_dst.s_addr = htonl(ADDRESSES + player)};
  memset(space, 0, sizeof *space);
  header->msg_control = space->bytes;
  header->msg_controllen = sizeof space->bytes;
  struct cmsghdr *c = CMSG_FIRSTHDR(header);
  c->cmsg_level = IPPROTO_IP;
  c->cmsg_type = IP_PKTINFO;
  c->cmsg_len = CMSG_LEN(sizeof info);
  memcpy(CMSG_DATA(c), &info, sizeof info);
}

void side_crowd_send(side_crowd *crowd, uint32_t player, const uint8_t *bytes, size_t count) {
  if (crowd->queued == CROWD_BATCH) side_crowd_flush(crowd);
  if (count > SLOT) return;
  int index = crowd->queued++;
  struct msghdr *header = &crowd->out.messages[index].msg_hdr;
  memcpy(crowd->out.bytes[index], bytes, count);
  crowd->out.parts[index] = (struct iovec){crowd->out.bytes[index], count};
  *header = (struct msghdr){.msg_name = &crowd->server,
                            .msg_namelen = sizeof crowd->server,
                            .msg_iov = &crowd->out.parts[index],
                            .msg_iovlen = 1};
  choose_address(&crowd->out.controls[index], header, player);
}

void side_crowd_flush(side_crowd *crowd) {
  int sent = 0;
  while (sent < crowd->queued) {
    int step = sendmmsg(crowd->fd, crowd->out.messages + sent,
                        (unsigned)(crowd->queued - sent), MSG_NOSIGNAL);
    sent += step > 0 ? step : 1;  // a datagram that the kernel rejects is lost, as on a network
  }
  crowd->queued = 0;
}

// Receiving

static void prepare_receive(side_crowd *crowd) {
  for (int i = 0; i < CROWD_BATCH; i++) {
    crowd->in.parts[i] = (struct iovec){crowd->in.bytes[i], SLOT};
    crowd->in.messages[i].msg_hdr = (struct msghdr){.msg_iov = &crowd->in.parts[i],
                                                    .msg_iovlen = 1,
                                                    .msg_control = crowd->in.controls[i].bytes,
                                                    .msg_controllen = sizeof(control)};
  }
}

// The players of all subjects poll: to wake a thread that sleeps would cost the server.
int side_crowd_receive(side_crowd *crowd, uint64_t time) {
  struct pollfd ready = {.fd = crowd->fd, .events = POLLIN};
  while (poll(&ready, 1, 0) < 1)
    if (side_now() >= time) return 0;
  prepare_receive(crowd);
  int count = recvmmsg(crowd->fd, crowd->in.messages, CROWD_BATCH, MSG_DONTWAIT, NULL);
  return count > 0 ? count : 0;
}

uint32_t side_crowd_player(const side_crowd *crowd, int index) {
  struct msghdr *header = (struct msghdr *)&crowd->in.messages[index].msg_hdr;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c != NULL; c = CMSG_NXTHDR(header, c)) {
    struct in_pktinfo info;
    if (c->cmsg_level != IPPROTO_IP || c->cmsg_type != IP_PKTINFO) continue;
    memcpy(&info, CMSG_DATA(c), sizeof info);
    return ntohl(info.ipi_addr.s_addr) - ADDRESSES;
  }
  return UINT32_MAX;
}

size_t side_crowd_count(const side_crowd *crowd, int index) {
  return crowd->in.messages[index].msg_len;
}

const uint8_t *side_crowd_bytes(const side_crowd *crowd, int index) {
  return crowd->in.bytes[index];
}
