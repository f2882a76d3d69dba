/// Floods a port with datagrams from 65,536 addresses in turn, 127.2.0.0/16.
#ifndef SESSION_FLOOD_H
#define SESSION_FLOOD_H

#include <stddef.h>
#include <stdint.h>

/// Sends the given datagrams in turn to `port` of 127.0.0.1 until the process's input ends: `rate`
/// of them a second, or at full speed if `rate` is 0. `bytes` holds `count` datagrams without gaps,
/// whose lengths are in `lengths`. Returns the process's exit status on failure.
int side_flood(uint16_t port, const uint8_t *_Nonnull bytes, const size_t *_Nonnull lengths,
               size_t count, double rate);

#endif
