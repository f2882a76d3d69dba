/// Many players behind one socket: each has an address of its own in 127.1.0.0/16, so that what
/// they send and hear goes in batches and they do not need a machine of their own.
#ifndef SESSION_CROWD_H
#define SESSION_CROWD_H

#include <stddef.h>
#include <stdint.h>

enum { CROWD_BATCH = 64, CROWD_PLAYERS = 4096 };

typedef struct side_crowd side_crowd;

/// Opens the socket for players of the server at `port` of 127.0.0.1; NULL where that fails.
side_crowd *_Nullable side_crowd_open(uint16_t port);
/// Queues a player's datagram; a full batch leaves at once.
void side_crowd_send(side_crowd *_Nonnull crowd, uint32_t player, const uint8_t *_Nonnull bytes,
                     size_t count);
/// Sends what is queued.
void side_crowd_flush(side_crowd *_Nonnull crowd);
/// Waits for datagrams until `time`, and takes a batch; how many there are.
int side_crowd_receive(side_crowd *_Nonnull crowd, uint64_t time);
/// Whose a taken datagram is, how long it is, and where it lies.
uint32_t side_crowd_player(const side_crowd *_Nonnull crowd, int index);
size_t side_crowd_count(const side_crowd *_Nonnull crowd, int index);
const uint8_t *_Nonnull side_crowd_bytes(const side_crowd *_Nonnull crowd, int index);

#endif
