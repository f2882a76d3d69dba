#ifndef ENET_PEER_H
#define ENET_PEER_H

#include <enet/enet.h>

#include "../../../SessionPeers/include/session_sides.h"

/// A host that listens on the port; NULL where that fails. Says `ready`.
ENetHost *peer_listen(const side_options *options, size_t peers);
/// Begins to connect to the address and port.
ENetPeer *peer_connect(ENetHost *host, const side_options *options);
/// A host with one connection; NULL where that fails. Tells how long it took, and says `ready`.
ENetPeer *peer_join(const side_options *options);
/// Sends a copy of the bytes on channel 0; false where ENet refuses.
bool peer_send(ENetPeer *peer, const void *bytes, size_t length, enet_uint32 flags);

int transfer_receive(const side_options *options);
int transfer_send(const side_options *options);
int transfer_burst(const side_options *options);
int echo_answer(const side_options *options);
int echo_ask(const side_options *options);
int game_serve(const side_options *options);
int game_play(const side_options *options);

#endif
