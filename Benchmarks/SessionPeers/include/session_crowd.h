/// Many players behind one socket, each with its own address in 127.1.0.0/16. Their datagrams are
/// sent and received in batches, so that the players do not need a machine of their own.
#ifndef SESSION_CROWD_H
#define SESSION_CROWD_H

#include <stddef.h>
#include <stdint.h>

enum { CROWD_BATCH = 64, CROWD_PLAYERS = 4096 };

typedef struct side_crowd side_crowd;

/// Opens the socket for players of the server at `port` of 127.0.0.1, or returns NULL on failure.
side_crowd *_Nullable side_crowd_open(uint16_t port);
/// Queues a player's datagram; a full batch is sent at once.
void side_crowd_send(side_crowd *_Nonnull crowd, uint32_t player, const uint8_t *_Nonnull bytes,
                     size_t count);
/// Sends the queued datagrams.
void side_crowd_flush(side_crowd *_Nonnull crowd);
/// Waits for datagrams until `time`, receives a batch and returns the number of its datagrams.
int side_crowd_receive(side_crowd *_Nonnull crowd, uint64_t time);
/// These functions return the player of a received datagram, its length and its bytes.
uint32_t side_crowd_player(const side_crowd *_Nonnull crowd, int index);
size_t side_crowd_count(const side_crowd *_Nonnull crowd, int index);
const uint8_t *_Nonnull side_crowd_bytes(const side_crowd *_Nonnull crowd, int index);

#endif
