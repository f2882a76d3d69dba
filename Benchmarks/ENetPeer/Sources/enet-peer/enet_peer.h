#ifndef ENET_PEER_H
#define ENET_PEER_H

#include <enet/enet.h>

#include "../../../SessionPeers/include/session_sides.h"

/// Creates a host that listens on the port, and prints `ready`. Returns NULL on failure.
ENetHost *peer_listen(const side_options *options, size_t peers);
/// Starts to connect to the address and port of the options.
ENetPeer *peer_connect(ENetHost *host, const side_options *options);
/// Creates a host with one connection, and prints the time that took and `ready`. Returns NULL on
/// failure.
ENetPeer *peer_join(const side_options *options);
/// Sends a copy of the bytes on channel 0. Returns false if ENet fails to queue it.
bool peer_send(ENetPeer *peer, const void *bytes, size_t length, enet_uint32 flags);

int transfer_receive(const side_options *options);
int transfer_send(const side_options *options);
int transfer_burst(const side_options *options);
int echo_answer(const side_options *options);
int echo_ask(const side_options *options);
int game_serve(const side_options *options);
int game_play(const side_options *options);

#endif
