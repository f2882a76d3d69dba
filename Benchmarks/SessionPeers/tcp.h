#ifndef SESSION_TCP_H
#define SESSION_TCP_H

#include "session_sides.h"

/// Opens a listening socket and prints its port. Returns -1 on failure.
int tcp_listen(const side_options *options);
/// Opens a connection to the other side, without Nagle's algorithm. Returns -1 on failure.
int tcp_connect(const side_options *options);

int tcp_serve(const side_options *options);
int tcp_play(const side_options *options);

#endif
