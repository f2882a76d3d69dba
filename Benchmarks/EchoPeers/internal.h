#ifndef ECHO_INTERNAL_H
#define ECHO_INTERNAL_H

#include "echo_peers.h"

#include <pthread.h>

typedef struct {
  pthread_t thread;
  int socket;  // bound to a port of 127.0.0.1
  int stop;    // eventfd that becomes readable when the server must stop
  uint16_t port;
  bool runs;
} echo_server;

void *echo_uv_udp(void *server);
void *echo_epoll_udp(void *server);
void *echo_uv_tcp(void *server);
void *echo_epoll_tcp(void *server);

/// Creates an epoll descriptor that waits for both descriptors to become readable.
int echo_epoll_pair(int first, int second);

#endif
