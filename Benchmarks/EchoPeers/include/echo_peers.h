/// The C side of `bench echo`: echo servers to compare with, and the load generator.
#ifndef ECHO_PEERS_H
#define ECHO_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { ECHO_BYTES = 64, ECHO_WINDOW = 64, ECHO_PACED = 20000, ECHO_HEADER = 8 };

typedef enum { ECHO_UV_UDP, ECHO_EPOLL_UDP, ECHO_UV_TCP, ECHO_EPOLL_TCP } echo_kind;

/// Starts an echo server on 127.0.0.1, in its own thread pinned to `core`. Returns false if that
/// fails. At most one server of each kind can run.
bool echo_server_start(echo_kind kind, int core);
/// Returns the port on which the server of a kind listens.
uint16_t echo_server_port(echo_kind kind);
/// Returns the user and system time of the server's thread, in nanoseconds.
uint64_t echo_server_cpu(echo_kind kind);
/// Stops the server's thread and frees its resources.
void echo_server_stop(echo_kind kind);

/// Returns the user and system time of a process, in nanoseconds, or 0 if the process has ended.
uint64_t echo_process_cpu(pid_t pid);
/// Pins all threads of a process to one core. A `pid` of 0 pins only the calling thread.
void echo_pin(pid_t pid, int core);

/// Sends one message every `interval` nanoseconds, each after the answer to the previous one, and
/// at most ECHO_PACED messages. Returns the number of answers.
size_t echo_paced(uint16_t port, bool tcp, size_t count, uint64_t interval);
/// Returns a percentile of the round-trip times that the last `echo_paced` or `echo_frames`
/// measured, in nanoseconds.
uint64_t echo_percentile(double percent);
/// Sends `count` messages, with ECHO_WINDOW of them in flight. Returns the time in nanoseconds, or
/// 0 if messages were lost.
uint64_t echo_windowed(uint16_t port, bool tcp, size_t count);
/// Sends `count` messages over TCP, with `window` of them in flight. Each is a frame: ECHO_HEADER
/// bytes with the length of its body in little-endian order, and the body of `length` bytes.
/// Returns the time in nanoseconds, or 0 on failure. With a window of 1, the first ECHO_PACED round
/// trips are recorded for `echo_percentile`.
uint64_t echo_frames(uint16_t port, size_t length, size_t count, size_t window);

#endif
