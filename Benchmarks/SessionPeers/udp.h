#ifndef SESSION_UDP_H
#define SESSION_UDP_H

#include "session_sides.h"

/// Opens a socket that is bound to the port, or connected to the address; -1 where that fails.
int udp_open(const side_options *options, bool listens);

/// Says where it listens.
void udp_listens(int fd);

int udp_serve(const side_options *options);
int udp_play(const side_options *options);

#endif
