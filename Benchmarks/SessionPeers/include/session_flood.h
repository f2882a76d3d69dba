/// Datagrams of strangers: each comes from another of 65,536 addresses, 127.2.0.0/16.
#ifndef SESSION_FLOOD_H
#define SESSION_FLOOD_H

#include <stddef.h>
#include <stdint.h>

/// Sends `count` datagrams in turn to `port` of 127.0.0.1, `rate` a second or, where that is 0, as
/// many as go, until the process's input ends. They lie one behind the other, `lengths` each.
/// Returns the process's status where that fails.
int side_flood(uint16_t port, const uint8_t *_Nonnull bytes, const size_t *_Nonnull lengths,
               size_t count, double rate);

#endif
