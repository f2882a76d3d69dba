/// The C side of `bench session`: kernel TCP, plain datagrams, a lossy path, and the code that all
/// sides share. A side is a process, whose options are described in `session_sides.h`.
#ifndef SESSION_PEERS_H
#define SESSION_PEERS_H

#include "session_crowd.h"
#include "session_flood.h"
#include "session_sides.h"

/// Runs a side: `tcp ROLE`, `udp ROLE` or `path FIRST SECOND`, and options. Returns the process's
/// exit status.
int session_peer(int count, char *const *words);

/// Returns the options among a program's arguments.
side_options session_options(int count, char *const *words);

/// Runs a side over kernel TCP: receive, send, serve or play.
int session_tcp(const char *role, const side_options *options);
/// Runs a side with plain datagrams: every role except burst.
int session_udp(const char *role, const side_options *options);
/// Forwards packets between two interfaces, with a delay, a rate limit and loss.
int session_path(const char *first, const char *second, const side_options *options);

/// The processor time of a 100-byte datagram on loopback, in nanoseconds.
typedef struct {
  double send, receive;              ///< with one system call for each datagram
  double send_batch, receive_batch;  ///< with one system call for 64 datagrams
  double send_segments;              ///< 64 in one buffer that the kernel divides
} session_costs;

/// Measures `count` datagrams of each kind; a value is 0 if its system call fails.
session_costs session_measure_costs(size_t count);

#endif
