/// System calls that fail on demand, for tests of what the transport does then.
///
/// The target defines the functions of the C library that CUVLoop and libuv call, so that all code
/// of the test executable reaches these definitions, which pass each call on to the system. A test
/// arms faults for its own thread; the next calls that the thread makes then fail or do only a part
/// of their work. A thread without faults pays for a look at one thread-local variable. A test can
/// also stop its thread's clock, and so meet a deadline to the nanosecond. Linux only.
#ifndef SYSTEMCALLS_H
#define SYSTEMCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  SC_SOCKET,
  SC_BIND,
  SC_LISTEN,
  SC_CONNECT,
  SC_ACCEPT,
  SC_SHUTDOWN,
  SC_GETSOCKNAME,
  SC_GETPEERNAME,
  SC_SETSOCKOPT,
  SC_GETSOCKOPT,
  SC_SENDMMSG,
  SC_RECVMMSG,
  SC_SEND,
  SC_SENDTO,
  SC_RECV,
  SC_READ,
  SC_POLL,
  SC_IOCTL,
  SC_FCNTL,
  SC_FOPEN,
  SC_TIMERFD_CREATE,
  SC_TIMERFD_SETTIME,
  SC_EVENTFD,
  SC_EPOLL_CREATE,
  SC_EPOLL_CTL,
  SC_EPOLL_WAIT,
  SC_PIPE,
  SC_PTHREAD_CREATE,
  SC_CALLOC,
  SC_MALLOC,
  SC_REALLOC,
} sc_call;

enum { SC_ANY = -1, SC_FAULTS = 8 };

/// An option of a level as the `detail` of a fault.
static inline int sc_option(int level, int name) { return level << 16 | name; }

/// What happens to some of the next calls of a function on this thread.
typedef struct {
  sc_call call;
  /// The descriptor of the calls, or SC_ANY.
  int descriptor;
  /// sc_option() of setsockopt and getsockopt, the command of fcntl, the operation of epoll_ctl or
  /// the domain of socket; or SC_ANY.
  int detail;
  /// The number of matching calls that pass before the fault begins.
  int skipped;
  /// The number of matching calls that meet the fault.
  int count;
  /// The errno with which the calls fail. If it is 0, they succeed within `limit`.
  int error;
  /// With an error: the smallest size in bytes of an allocation that fails. Allocations by shared
  /// libraries, such as the Swift runtime, never fail. Without an error: the largest number of
  /// bytes that send, recv and read handle, or of datagrams that sendmmsg and recvmmsg handle; the
  /// value that getsockopt returns. An fopen without an error opens a file that cannot be read.
  size_t limit;
  /// If not NULL, recv writes these `limit` bytes at `offset` over what it has received. They must
  /// stay valid.
  const uint8_t *_Nullable bytes;
  size_t offset;
} sc_fault;

/// Arms a fault for the calling thread. Returns its number, or -1 if the thread has SC_FAULTS
/// already. Of several faults that match a call, the one that was armed first counts it, until that
/// fault has ended.
int sc_arm(const sc_fault *_Nonnull fault);
/// Returns how many calls have met the fault with this number on the calling thread.
int sc_hits(int number);
/// Removes the faults of the calling thread.
void sc_disarm(void);
/// Returns the number of descriptors that the calling thread has opened, less those that it has
/// closed. Descriptors that libuv closes are not subtracted.
long sc_descriptors(void);
/// Returns the descriptor that the calling thread has opened last.
int sc_last_descriptor(void);
/// Stops the monotonic clock of the calling thread for good. It then shows the same time until it
/// is advanced, and system timers that the thread arms do not expire.
void sc_stop_clock(void);
/// Advances the stopped clock of the calling thread.
void sc_advance_clock(int64_t nanoseconds);
/// Makes the resolver answer `error` (EAI_…) for `host` from now on, on all threads. With
/// EAI_SYSTEM errno is `code`. With an error of 0, it finds the host without any address.
void sc_fail_lookup(const char *_Nonnull host, int error, int code);

#endif
