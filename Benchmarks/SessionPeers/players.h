/// The players of a game server, for every subject whose players need no protocol.
#ifndef SESSION_PLAYERS_H
#define SESSION_PLAYERS_H

#include "session_sides.h"

enum { PLAYERS_LIMIT = 4096 };

/// Plays the role `play`. Each player has a socket, which `open` connects to the server, and sends
/// messages of SIDE_INPUT bytes that start with its number. With a `prefix` of 4, each message
/// follows its length in 4 bytes; with 0, each is a datagram.
int players_play(const side_options *options, int (*open)(const side_options *), size_t prefix);

#endif
