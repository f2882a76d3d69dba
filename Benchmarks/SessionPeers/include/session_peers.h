/// What `bench session` is measured against and with: kernel TCP, plain datagrams, a lossy path,
/// and what all sides share. A side is a process; `session_sides.h` says what it is told.
#ifndef SESSION_PEERS_H
#define SESSION_PEERS_H

#include "session_crowd.h"
#include "session_flood.h"
#include "session_sides.h"

/// Plays a side: `tcp ROLE`, `udp ROLE` or `path FIRST SECOND`, and options. Returns the process's
/// status.
int session_peer(int count, char *const *words);

/// The options among a program's words.
side_options session_options(int count, char *const *words);

/// Over kernel TCP: receive or send.
int session_tcp(const char *role, const side_options *options);
/// With plain datagrams: all but burst.
int session_udp(const char *role, const side_options *options);
/// Passes what comes from one interface on to another, late, slowly, and not all of it.
int session_path(const char *first, const char *second, const side_options *options);

/// What 100-byte datagrams cost on loopback, nanoseconds of processor time each.
typedef struct {
  double send, receive;              ///< one system call each
  double send_batch, receive_batch;  ///< 64 with one call
  double send_segments;              ///< 64 as one buffer that the kernel cuts
} session_costs;

/// Measures them, `count` datagrams of each kind; 0 where the system refuses.
session_costs session_measure_costs(size_t count);

#endif
