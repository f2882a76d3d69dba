#include "internal.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// An echo server on epoll, without a library.

enum { BATCH = 64, SLOT = 2048, STREAM = 64 * 1024 };

int echo_epoll_pair(int first, int second) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = first};
  epoll_ctl(epoll, EPOLL_CTL_ADD, first, &event);
  event.data.fd = second;
  epoll_ctl(epoll, EPOLL_CTL_ADD, second, &event);
  return epoll;
}

typedef struct {
  struct mmsghdr messages[BATCH];
  struct iovec parts[BATCH];
  struct sockaddr_in peers[BATCH];
  char bytes[BATCH][SLOT];
} batch;

static void echo_batch(int socket, batch *b) {
  for (int i = 0; i < BATCH; i++) {
    b->parts[i] = (struct iovec){b->bytes[i], SLOT};
    b->messages[i].msg_hdr = (struct msghdr){.msg_name = &b->peers[i],
                                             .msg_namelen = sizeof b->peers[i],
                                             .msg_iov = &b->parts[i],
                                             .msg_iovlen = 1};
  }
  int count = recvmmsg(socket, b->messages, BATCH, MSG_DONTWAIT, NULL);
  for (int i = 0; i < count; i++) b->parts[i].iov_len = b->messages[i].msg_len;
  if (count > 0) sendmmsg(socket, b->messages, (unsigned)count, MSG_DONTWAIT);
}

void *echo_epoll_udp(void *argument) {
  echo_server *server = argument;
  static batch b;
  int epoll = echo_epoll_pair(server->socket, server->stop);
  for (bool runs = true; runs;) {
    struct epoll_event event;
    if (epoll_wait(epoll, &event, 1, -1) < 1) continue;
    if (event.data.fd == server->stop) {
      runs = false;
    } else {
      echo_batch(server->socket, &b);
    }
  }
  close(epoll);
  close(server->socket);
  return NULL;
}

static void accept_peer(int epoll, int listener) {
  int on = 1;
  int peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = peer};
  if (peer < 0) return;
  setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  epoll_ctl(epoll, EPOLL_CTL_ADD, peer, &event);
}

void *echo_epoll_tcp(void *argument) {
  echo_server *server = argument;
  static char bytes[STREAM];
  int epoll = echo_epoll_pair(server->socket, server->stop);
  for (bool runs = true; runs;) {
    struct epoll_event event;
    if (epoll_wait(epoll, &event, 1, -1) < 1) continue;
    int fd = event.data.fd;
    if (fd == server->stop) {
      runs = false;
    } else if (fd == server->socket) {
      accept_peer(epoll, fd);
    } else {
      ssize_t count = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
      if (count <= 0) {
        close(fd);
      } else {
        send(fd, bytes, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL);
      }
    }
  }
  close(epoll);
  close(server->socket);
  return NULL;
}
