#ifndef ECHO_INTERNAL_H
#define ECHO_INTERNAL_H

#include "echo_peers.h"

#include <pthread.h>

typedef struct {
  pthread_t thread;
  int socket;  // bound
  int stop;    // eventfd: becomes readable when the server has to end
  uint16_t port;
  bool runs;
} echo_server;

void *echo_uv_udp(void *server);
void *echo_epoll_udp(void *server);
void *echo_uv_tcp(void *server);
void *echo_epoll_tcp(void *server);

/// Makes an epoll descriptor that watches both.
int echo_epoll_pair(int first, int second);

#endif
