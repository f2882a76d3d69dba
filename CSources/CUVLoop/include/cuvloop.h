/// Sockets, timers and interfaces on one libuv loop: this C moves bytes, Swift decides.
///
/// Statuses are 0 or a negative errno. The context pointer comes first in every callback.
/// Everything but `cuv_loop_wake`, locks and threads belongs to the thread that runs the loop. A
/// handle is freed after its destroy call, when libuv has let go of it; no callback comes after
/// destroy.
#ifndef CUVLOOP_H
#define CUVLOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cuv_loop cuv_loop;
typedef struct cuv_udp cuv_udp;
typedef struct cuv_listener cuv_listener;
typedef struct cuv_stream cuv_stream;
typedef struct cuv_timer cuv_timer;
typedef struct cuv_monitor cuv_monitor;
typedef struct cuv_lookup cuv_lookup;

/// An address and a port in host order; `family` is 4 or 6, an IPv4 address is in `low`.
typedef struct {
  uint64_t high, low;
  uint32_t scope;
  uint16_t port;
  uint8_t family;
} cuv_endpoint;

// Loop (loop.c)

/// Called around every wait of the loop: run what other threads have left.
typedef void (*cuv_drain)(void *_Nonnull context, bool woken);

int cuv_loop_create(void *_Nonnull context, cuv_drain _Nonnull drain,
                    cuv_loop *_Nullable *_Nonnull out);
/// Runs until `cuv_loop_stop`; `spin` polls without ever sleeping.
void cuv_loop_run(cuv_loop *_Nonnull loop, bool spin);
/// From any thread: the loop's wait ends and it drains. Calls coalesce.
void cuv_loop_wake(cuv_loop *_Nonnull loop);
/// Closes the loop's own handles, so that `cuv_loop_run` returns once nothing is open. The kinds
/// of handles that others left open go to `names`; returns how many.
int cuv_loop_stop(cuv_loop *_Nonnull loop, char *_Nonnull names, size_t capacity);
/// After `cuv_loop_run` returned: frees the loop; a status other than 0 frees nothing.
int cuv_loop_destroy(cuv_loop *_Nonnull loop);

/// CLOCK_MONOTONIC, nanoseconds.
int64_t cuv_now(void);
/// How long the computer has slept, which `cuv_now` does not count, nanoseconds; 0 where the system
/// does not say.
int64_t cuv_time_suspended(void);
/// The pointer that this thread was given last by `cuv_set_current`.
void *_Nullable cuv_current(void);
void cuv_set_current(void *_Nullable current);

/// A lock of the system's.
typedef struct cuv_lock cuv_lock;
cuv_lock *_Nonnull cuv_lock_create(void);
void cuv_lock_acquire(cuv_lock *_Nonnull lock);
void cuv_lock_release(cuv_lock *_Nonnull lock);
void cuv_lock_destroy(cuv_lock *_Nonnull lock);

typedef struct cuv_thread cuv_thread;
int cuv_thread_start(const char *_Nonnull name, void *_Nonnull context,
                     void (*_Nonnull body)(void *_Nonnull), cuv_thread *_Nullable *_Nonnull out);
/// Waits for the thread's end, and frees its handle.
void cuv_thread_join(cuv_thread *_Nonnull thread);
/// Lets the thread end by itself, and frees its handle.
void cuv_thread_detach(cuv_thread *_Nonnull thread);

// UDP (udp.c, udp_batch.c)

enum { CUV_UDP_BATCH = 64 };

typedef struct {
  cuv_endpoint local;
  bool reuse_address, reuse_port, v6_only, receives_all_groups;
  bool segments;  // segmentation offload where the kernel has it
  bool probes_mtu;  // datagrams are never cut into fragments
  bool packet_info;  // interface, own address and hop limit of what comes
  uint32_t receive_buffer, send_buffer;  // bytes, 0 leaves the system's
  uint32_t largest_datagram;             // bytes; longer ones are cut off and marked
  uint32_t queue_limit;                  // bytes that may wait to be sent
} cuv_udp_options;

typedef struct {
  const uint8_t *_Nonnull bytes;
  uint32_t count;
  uint32_t interface;
  int32_t hop_limit;  // -1 where unknown
  bool truncated;
  cuv_endpoint source, destination;
} cuv_datagram;

typedef struct {
  uint64_t received, received_bytes, truncated, receive_errors;
  uint64_t sent, sent_bytes, send_errors, queue_drops, blocked;
} cuv_udp_counters;

typedef void (*cuv_udp_receive)(void *_Nonnull context, const cuv_datagram *_Nonnull batch,
                                size_t count);

int cuv_udp_create(cuv_loop *_Nonnull loop, const cuv_udp_options *_Nonnull options,
                   void *_Nonnull context, cuv_udp_receive _Nonnull receive,
                   cuv_udp *_Nullable *_Nonnull out);
void cuv_udp_destroy(cuv_udp *_Nonnull udp);
int cuv_udp_local(const cuv_udp *_Nonnull udp, cuv_endpoint *_Nonnull out);
/// Copies a datagram to the queue; false when it did not fit and was dropped.
bool cuv_udp_queue(cuv_udp *_Nonnull udp, const uint8_t *_Nullable bytes, size_t count,
                   const cuv_endpoint *_Nonnull destination, uint32_t interface);
/// Hands the queue to the system, in batches; what does not fit waits until it does.
void cuv_udp_flush(cuv_udp *_Nonnull udp);
size_t cuv_udp_queued(const cuv_udp *_Nonnull udp);
const cuv_udp_counters *_Nonnull cuv_udp_count(const cuv_udp *_Nonnull udp);
/// The errno of the last failed send, negative, or 0.
int cuv_udp_last_error(const cuv_udp *_Nonnull udp);
int cuv_udp_membership(cuv_udp *_Nonnull udp, const cuv_endpoint *_Nonnull group,
                       uint32_t interface, bool join);
int cuv_udp_multicast_interface(cuv_udp *_Nonnull udp, uint32_t interface);
int cuv_udp_multicast_loop(cuv_udp *_Nonnull udp, bool on);
int cuv_udp_hop_limit(cuv_udp *_Nonnull udp, bool multicast, int hops);
/// The addresses that UDP sockets of this host, whoever's, are bound to at `port`, one a socket:
/// fills `out` up to `capacity`; returns how many, or a negative errno.
int cuv_udp_bound(uint16_t port, cuv_endpoint *_Nullable out, size_t capacity);

// TCP (tcp.c)

typedef struct {
  cuv_endpoint local;
  int backlog;
  bool reuse_port, v6_only;
} cuv_listen_options;

/// `descriptor` is a new connection's, or a negative errno.
typedef void (*cuv_accept)(void *_Nonnull context, int descriptor,
                           const cuv_endpoint *_Nonnull peer);

int cuv_listener_create(cuv_loop *_Nonnull loop, const cuv_listen_options *_Nonnull options,
                        void *_Nonnull context, cuv_accept _Nonnull accept,
                        cuv_listener *_Nullable *_Nonnull out);
void cuv_listener_destroy(cuv_listener *_Nonnull listener);
int cuv_listener_local(const cuv_listener *_Nonnull listener, cuv_endpoint *_Nonnull out);
/// Whether connections are taken; off leaves them in the backlog.
int cuv_listener_accepts(cuv_listener *_Nonnull listener, bool on);

typedef enum {
  CUV_STREAM_CONNECTED,  // or failed: `error`
  CUV_STREAM_BYTES,
  CUV_STREAM_END,
  CUV_STREAM_SENT,    // some of the queue went out
  CUV_STREAM_FAILED,  // `error`
} cuv_stream_event;

typedef void (*cuv_stream_callback)(void *_Nonnull context, cuv_stream_event event,
                                    const uint8_t *_Nullable bytes, size_t count, int error);

/// Closes an accepted descriptor that nobody wants.
void cuv_descriptor_close(int descriptor);
/// Takes over a connected descriptor, also when it fails.
int cuv_stream_create(cuv_loop *_Nonnull loop, int descriptor, void *_Nonnull context,
                      cuv_stream_callback _Nonnull callback, cuv_stream *_Nullable *_Nonnull out);
/// Begins to connect: one CONNECTED follows.
int cuv_stream_connect(cuv_loop *_Nonnull loop, const cuv_endpoint *_Nonnull peer,
                       void *_Nonnull context, cuv_stream_callback _Nonnull callback,
                       cuv_stream *_Nullable *_Nonnull out);
/// The callbacks go to another context from now on.
void cuv_stream_set_context(cuv_stream *_Nonnull stream, void *_Nonnull context,
                            cuv_stream_callback _Nonnull callback);
/// Closes the descriptor at once; `reset` with an RST.
void cuv_stream_destroy(cuv_stream *_Nonnull stream, bool reset);
/// Lets go of the descriptor, for another loop: nothing may wait to be sent, and what was not read
/// stays in the system. A negative errno changes nothing.
int cuv_stream_detach(cuv_stream *_Nonnull stream);
int cuv_stream_local(const cuv_stream *_Nonnull stream, cuv_endpoint *_Nonnull out);
int cuv_stream_peer(const cuv_stream *_Nonnull stream, cuv_endpoint *_Nonnull out);
/// Whether bytes are wanted.
int cuv_stream_reads(cuv_stream *_Nonnull stream, bool on);
/// Sends what the system takes now and keeps a copy of the rest.
int cuv_stream_write(cuv_stream *_Nonnull stream, const uint8_t *_Nullable bytes, size_t count);
size_t cuv_stream_queued(const cuv_stream *_Nonnull stream);
/// FIN: nothing more will be sent.
int cuv_stream_shutdown(cuv_stream *_Nonnull stream);
/// Probes a silent peer after `idle` seconds, each `interval` seconds, `count` times; 0 is off.
int cuv_stream_keep_alive(cuv_stream *_Nonnull stream, int idle, int interval, int count);
/// How long sent bytes may stay unacknowledged, milliseconds.
int cuv_stream_user_timeout(cuv_stream *_Nonnull stream, uint32_t milliseconds);
/// The system's buffer of bytes to send, bytes.
int cuv_stream_send_buffer(cuv_stream *_Nonnull stream, int bytes);

// Timer (timer.c): one a loop, the heap of deadlines is Swift's

typedef void (*cuv_expire)(void *_Nonnull context);

int cuv_timer_create(cuv_loop *_Nonnull loop, void *_Nonnull context, cuv_expire _Nonnull expire,
                     cuv_timer *_Nullable *_Nonnull out);
/// Expires at that time of `cuv_now`; a time that has passed expires at once.
int cuv_timer_arm(cuv_timer *_Nonnull timer, int64_t nanoseconds);
void cuv_timer_destroy(cuv_timer *_Nonnull timer);

// Interfaces (interfaces.c) and names (lookup.c)

enum {
  CUV_INTERFACE_UP = 1,
  CUV_INTERFACE_RUNNING = 2,
  CUV_INTERFACE_LOOPBACK = 4,
  CUV_INTERFACE_MULTICAST = 8,
  CUV_INTERFACE_POINT_TO_POINT = 16,
};

/// An interface and one of its addresses; `address.family` is 0 where it has none. Entries with
/// an address may have no name and flags: an earlier one of the same index has them then.
typedef struct {
  char name[16];
  uint32_t index, flags;
  // How often the cable came and went, and the bytes of a packet; 0 where the system does not say.
  uint32_t carrier_changes, largest_packet;
  cuv_endpoint address;
  uint8_t prefix_length;
} cuv_interface_entry;

/// Fills `out` up to `capacity`; returns how many entries there are, or a negative errno.
int cuv_interfaces(cuv_interface_entry *_Nullable out, size_t capacity);

typedef void (*cuv_changed)(void *_Nonnull context);

/// Calls back when links or addresses come, go or change.
int cuv_monitor_create(cuv_loop *_Nonnull loop, void *_Nonnull context,
                       cuv_changed _Nonnull changed, cuv_monitor *_Nullable *_Nonnull out);
void cuv_monitor_destroy(cuv_monitor *_Nonnull monitor);

enum { CUV_NAME_UNKNOWN = 1, CUV_NAME_TRY_AGAIN = 2, CUV_NAME_FAILED = 3 };

/// `status` is 0 or CUV_NAME_…; the ports of the addresses are 0.
typedef void (*cuv_looked_up)(void *_Nonnull context, int status,
                              const cuv_endpoint *_Nullable addresses, size_t count);

/// Asks the system for a host's addresses, off the loop's thread.
int cuv_lookup_create(cuv_loop *_Nonnull loop, const char *_Nonnull host, void *_Nonnull context,
                      cuv_looked_up _Nonnull done, cuv_lookup *_Nullable *_Nonnull out);
/// Frees it; where it has not called back yet it is cancelled, and will not.
void cuv_lookup_destroy(cuv_lookup *_Nonnull lookup);

#endif
