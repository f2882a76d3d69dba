#ifndef SESSION_UDP_H
#define SESSION_UDP_H

#include "session_sides.h"

/// Opens a socket that is bound to the port if `listens` is true, or else connected to the address.
/// Returns -1 on failure.
int udp_open(const side_options *options, bool listens);

/// Prints the port on which the socket listens.
void udp_listens(int fd);

int udp_serve(const side_options *options);
int udp_play(const side_options *options);

#endif
