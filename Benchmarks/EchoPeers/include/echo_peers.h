/// What `bench echo` is measured against and with: the same echo in plain C, and the load.
#ifndef ECHO_PEERS_H
#define ECHO_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { ECHO_BYTES = 64, ECHO_WINDOW = 64, ECHO_PACED = 20000, ECHO_HEADER = 8 };

typedef enum { ECHO_UV_UDP, ECHO_EPOLL_UDP, ECHO_UV_TCP, ECHO_EPOLL_TCP } echo_kind;

/// Starts an echo on 127.0.0.1 in a thread of its own, pinned to `core`; false when it cannot.
/// There is one of each kind at most.
bool echo_server_start(echo_kind kind, int core);
uint16_t echo_server_port(echo_kind kind);
/// User plus system time of its thread, nanoseconds.
uint64_t echo_server_cpu(echo_kind kind);
/// Ends the thread and frees everything.
void echo_server_stop(echo_kind kind);

/// User plus system time of a process, nanoseconds; 0 when it is gone.
uint64_t echo_process_cpu(pid_t pid);
/// Keeps all threads of a process (0: the calling thread alone) on one core.
void echo_pin(pid_t pid, int core);

/// One message each `interval` nanoseconds, the next only after the answer, ECHO_PACED at most.
/// Returns how many were answered.
size_t echo_paced(uint16_t port, bool tcp, size_t count, uint64_t interval);
/// The round trip of the last `echo_paced` that `percent` of them do not exceed, nanoseconds.
uint64_t echo_percentile(double percent);
/// `count` messages with ECHO_WINDOW of them under way; returns nanoseconds, 0 when it failed.
uint64_t echo_windowed(uint16_t port, bool tcp, size_t count);
/// `count` messages over TCP with `window` of them under way, each a frame of `length` bytes:
/// ECHO_HEADER bytes that say how many follow, least significant first, and those. Returns
/// nanoseconds, 0 when it failed; with a window of 1 each round trip counts for
/// `echo_percentile`, the first ECHO_PACED of them.
uint64_t echo_frames(uint16_t port, size_t length, size_t count, size_t window);

#endif
