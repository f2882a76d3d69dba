/// Sockets, timers and interfaces on a libuv loop. The C code only moves bytes; all decisions are
/// made in Swift.
///
/// Functions return a status: 0 or a negative errno. Every callback receives the context pointer
/// first. All functions except `cuv_loop_wake` and those of locks and threads must be called on the
/// thread that runs the loop. After a destroy call, no callback is made; the memory is freed later,
/// when libuv has closed the handle.
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
typedef struct cuv_input cuv_input;
typedef struct cuv_monitor cuv_monitor;
typedef struct cuv_lookup cuv_lookup;

/// An address and a port in host byte order. `family` is 4 or 6; an IPv4 address is stored in
/// `low`.
typedef struct {
  uint64_t high, low;
  uint32_t scope;
  uint16_t port;
  uint8_t family;
} cuv_endpoint;

// Loop (loop.c)

/// Called before and after every wait of the loop, to run queued work. `woken` is true if
/// `cuv_loop_wake` was called since the last call.
typedef void (*cuv_drain)(void *_Nonnull context, bool woken);

int cuv_loop_create(void *_Nonnull context, cuv_drain _Nonnull drain,
                    cuv_loop *_Nullable *_Nonnull out);
/// Runs the loop until `cuv_loop_stop`. With `spin`, the loop polls without ever blocking.
void cuv_loop_run(cuv_loop *_Nonnull loop, bool spin);
/// Ends the loop's wait and makes it drain. May be called on any thread. Several calls may cause
/// only one drain.
void cuv_loop_wake(cuv_loop *_Nonnull loop);
/// Closes the loop's own handles, so that `cuv_loop_run` returns once no handle is open. Writes the
/// types of the other open handles to `names` and returns their number.
int cuv_loop_stop(cuv_loop *_Nonnull loop, char *_Nonnull names, size_t capacity);
/// Frees the loop after `cuv_loop_run` has returned. Frees nothing if the status is not 0.
int cuv_loop_destroy(cuv_loop *_Nonnull loop);

/// Returns the time of CLOCK_MONOTONIC, in nanoseconds.
int64_t cuv_now(void);
/// Returns how long the computer has been suspended since it was started, in nanoseconds, or 0 if
/// the system does not provide this time. `cuv_now` does not include it.
int64_t cuv_time_suspended(void);
/// Returns the pointer that was last passed to `cuv_set_current` on this thread.
void *_Nullable cuv_current(void);
void cuv_set_current(void *_Nullable current);

/// A POSIX mutex.
typedef struct cuv_lock cuv_lock;
cuv_lock *_Nonnull cuv_lock_create(void);
void cuv_lock_acquire(cuv_lock *_Nonnull lock);
void cuv_lock_release(cuv_lock *_Nonnull lock);
void cuv_lock_destroy(cuv_lock *_Nonnull lock);

typedef struct cuv_thread cuv_thread;
int cuv_thread_start(const char *_Nonnull name, void *_Nonnull context,
                     void (*_Nonnull body)(void *_Nonnull), cuv_thread *_Nullable *_Nonnull out);
/// Waits until the thread has ended, then frees its handle.
void cuv_thread_join(cuv_thread *_Nonnull thread);
/// Detaches the thread and frees its handle.
void cuv_thread_detach(cuv_thread *_Nonnull thread);

// UDP (udp.c, udp_batch.c)

enum { CUV_UDP_BATCH = 64 };

typedef struct {
  cuv_endpoint local;
  bool reuse_address, reuse_port, v6_only, receives_all_groups;
  bool segments;                         // use UDP_SEGMENT where the kernel supports it
  bool probes_mtu;                       // disable IP fragmentation
  bool packet_info;                      // receive interface, destination and hop limit
  uint32_t receive_buffer, send_buffer;  // bytes; 0 selects the system's default
  uint32_t largest_datagram;             // bytes; longer datagrams are truncated
  uint32_t queue_limit;                  // bytes in the send queue
} cuv_udp_options;

typedef struct {
  const uint8_t *_Nonnull bytes;
  uint32_t count;
  uint32_t interface;
  int32_t hop_limit;  // -1 if unknown
  bool truncated;
  cuv_endpoint source, destination;
} cuv_datagram;

typedef struct {
  uint64_t received, received_bytes, truncated, receive_errors;
  uint64_t sent, sent_bytes, send_errors, queue_drops, blocked;
} cuv_udp_counters;

/// The receiver may change the batch, for example to leave out some bytes of a datagram.
typedef void (*cuv_udp_receive)(void *_Nonnull context, cuv_datagram *_Nonnull batch,
                                size_t count);

int cuv_udp_create(cuv_loop *_Nonnull loop, const cuv_udp_options *_Nonnull options,
                   void *_Nonnull context, cuv_udp_receive _Nonnull receive,
                   cuv_udp *_Nullable *_Nonnull out);
void cuv_udp_destroy(cuv_udp *_Nonnull udp);
int cuv_udp_local(const cuv_udp *_Nonnull udp, cuv_endpoint *_Nonnull out);
/// Copies a datagram into the send queue. Returns false if the queue is full and the datagram was
/// dropped.
bool cuv_udp_queue(cuv_udp *_Nonnull udp, const uint8_t *_Nullable bytes, size_t count,
                   const cuv_endpoint *_Nonnull destination, uint32_t interface);
/// Copies a datagram in two parts into the send queue, as `cuv_udp_queue` does with one part.
bool cuv_udp_queue_parts(cuv_udp *_Nonnull udp, const uint8_t *_Nullable first, size_t first_count,
                         const uint8_t *_Nullable second, size_t second_count,
                         const cuv_endpoint *_Nonnull destination, uint32_t interface);
/// Passes the queued datagrams to the system, in batches. Datagrams for which the system has no
/// room stay queued and are sent as soon as it has.
void cuv_udp_flush(cuv_udp *_Nonnull udp);
size_t cuv_udp_queued(const cuv_udp *_Nonnull udp);
const cuv_udp_counters *_Nonnull cuv_udp_count(const cuv_udp *_Nonnull udp);
/// Returns the negative errno of the last failed send, or 0.
int cuv_udp_last_error(const cuv_udp *_Nonnull udp);
int cuv_udp_membership(cuv_udp *_Nonnull udp, const cuv_endpoint *_Nonnull group,
                       uint32_t interface, bool join);
int cuv_udp_multicast_interface(cuv_udp *_Nonnull udp, uint32_t interface);
int cuv_udp_multicast_loop(cuv_udp *_Nonnull udp, bool on);
int cuv_udp_hop_limit(cuv_udp *_Nonnull udp, bool multicast, int hops);
/// Lists the addresses to which the UDP sockets of all processes on this host are bound at `port`,
/// one for each socket. Writes up to `capacity` of them to `out`, and returns their total number or
/// a negative errno.
int cuv_udp_bound(uint16_t port, cuv_endpoint *_Nullable out, size_t capacity);

// Probing UDP ports (udp_probe.c)

/// Opens a socket that sends to `peer` only. Returns its descriptor or a negative errno.
int cuv_probe_open(const cuv_endpoint *_Nonnull peer);
/// Sends an empty datagram. Returns true if the system has reported since the last call that no
/// program listens on the port.
bool cuv_probe_send(int descriptor);
void cuv_probe_close(int descriptor);

// TCP (tcp.c)

typedef struct {
  cuv_endpoint local;
  int backlog;
  bool reuse_port, v6_only;
} cuv_listen_options;

/// Receives the descriptor of a new connection, or a negative errno. -EMFILE, -ENFILE, -ENOBUFS and
/// -ENOMEM mean that a connection waits for which there are no resources; unless the callback stops
/// accepting, it is tried again. With any other errno, a connection broke before it was accepted.
typedef void (*cuv_accept)(void *_Nonnull context, int descriptor,
                           const cuv_endpoint *_Nonnull peer);

int cuv_listener_create(cuv_loop *_Nonnull loop, const cuv_listen_options *_Nonnull options,
                        void *_Nonnull context, cuv_accept _Nonnull accept,
                        cuv_listener *_Nullable *_Nonnull out);
void cuv_listener_destroy(cuv_listener *_Nonnull listener);
int cuv_listener_local(const cuv_listener *_Nonnull listener, cuv_endpoint *_Nonnull out);
/// Sets whether connections are accepted. Otherwise they wait in the backlog.
int cuv_listener_set_accepting(cuv_listener *_Nonnull listener, bool on);

typedef enum {
  CUV_STREAM_CONNECTED,  // the attempt ended; `error` is 0 or a negative errno
  CUV_STREAM_BYTES,
  CUV_STREAM_END,
  CUV_STREAM_SENT,    // bytes of the send queue were sent
  CUV_STREAM_FAILED,  // the connection broke; `error` is a negative errno
} cuv_stream_event;

typedef void (*cuv_stream_callback)(void *_Nonnull context, cuv_stream_event event,
                                    const uint8_t *_Nullable bytes, size_t count, int error);

/// Closes an accepted descriptor for which no stream is created.
void cuv_descriptor_close(int descriptor);
/// Creates a stream that owns a connected descriptor. Closes the descriptor on failure.
int cuv_stream_create(cuv_loop *_Nonnull loop, int descriptor, void *_Nonnull context,
                      cuv_stream_callback _Nonnull callback, cuv_stream *_Nullable *_Nonnull out);
/// Starts to connect. One CUV_STREAM_CONNECTED event follows.
int cuv_stream_connect(cuv_loop *_Nonnull loop, const cuv_endpoint *_Nonnull peer,
                       void *_Nonnull context, cuv_stream_callback _Nonnull callback,
                       cuv_stream *_Nullable *_Nonnull out);
/// Replaces the context and the callback.
void cuv_stream_set_context(cuv_stream *_Nonnull stream, void *_Nonnull context,
                            cuv_stream_callback _Nonnull callback);
/// Closes the descriptor at once; with `reset`, sends an RST.
void cuv_stream_destroy(cuv_stream *_Nonnull stream, bool reset);
/// Frees the stream without closing its descriptor, and returns the descriptor for use on another
/// loop. Unread bytes stay in the kernel. Fails with -EBUSY while the send queue is not empty; on
/// failure the stream is unchanged.
int cuv_stream_detach(cuv_stream *_Nonnull stream);
int cuv_stream_local(const cuv_stream *_Nonnull stream, cuv_endpoint *_Nonnull out);
/// Sets whether the stream reads.
int cuv_stream_set_reading(cuv_stream *_Nonnull stream, bool on);
/// Sends as many bytes as the system accepts and copies the rest into the send queue.
int cuv_stream_write(cuv_stream *_Nonnull stream, const uint8_t *_Nullable bytes, size_t count);
size_t cuv_stream_queued(const cuv_stream *_Nonnull stream);
/// Closes the sending direction (FIN).
int cuv_stream_shutdown(cuv_stream *_Nonnull stream);
/// Sends up to `count` keep-alive probes, every `interval` seconds, after the connection was idle
/// for `idle` seconds. An `idle` of 0 disables keep-alive.
int cuv_stream_keep_alive(cuv_stream *_Nonnull stream, int idle, int interval, int count);
/// Sets how long sent bytes may stay unacknowledged, in milliseconds; 0 selects the system's limit.
int cuv_stream_user_timeout(cuv_stream *_Nonnull stream, int milliseconds);
/// Sets the size of the kernel's send buffer, in bytes.
int cuv_stream_send_buffer(cuv_stream *_Nonnull stream, int bytes);

// HTTP heads (http.c) and WebSocket frames (websocket.c): parsers without a loop

typedef enum { CUV_METHOD_GET, CUV_METHOD_HEAD, CUV_METHOD_OTHER } cuv_method;

/// A range of the bytes of a head.
typedef struct {
  uint32_t start, count;
} cuv_range;

typedef struct {
  cuv_range name, value;
} cuv_field;

typedef struct {
  cuv_range target;
  size_t field_count;
  uint16_t major, minor;
  uint16_t status;    // of a response; 0 for a request
  cuv_method method;  // of a request
} cuv_head;

/// Parses the head of an HTTP request, which ends with an empty line. Allocates nothing. Writes up
/// to `capacity` header fields to `fields`. Returns -E2BIG if there are more, and -EPROTO if the
/// head is malformed or incomplete.
int cuv_head_parse(const uint8_t *_Nonnull bytes, size_t count, cuv_field *_Nonnull fields,
                   size_t capacity, cuv_head *_Nonnull out);
/// The same for the head of an HTTP response, which has a status and no target.
int cuv_response_parse(const uint8_t *_Nonnull bytes, size_t count, cuv_field *_Nonnull fields,
                       size_t capacity, cuv_head *_Nonnull out);

/// The state of the frames that one end of a WebSocket receives.
typedef struct cuv_websocket cuv_websocket;

/// A part of a frame: all of its payload, or as much of the rest as has arrived.
typedef struct {
  uint64_t frame_length;  // of the whole payload, in bytes
  const uint8_t *_Nullable bytes;  // unmasked; valid until the next call
  size_t count;
  uint8_t opcode, reserved;
  bool final, masked;
} cuv_websocket_part;

int cuv_websocket_create(cuv_websocket *_Nullable *_Nonnull out);
void cuv_websocket_destroy(cuv_websocket *_Nonnull socket);
/// Sets the input. `bytes` must stay valid until `cuv_websocket_next` has returned 0 or an error.
void cuv_websocket_feed(cuv_websocket *_Nonnull socket, const uint8_t *_Nullable bytes,
                        size_t count);
/// Reads the next part of a frame. Returns 1 if there is one, 0 if all of the input was read, and
/// -EPROTO if the header of a frame is malformed; nothing can be read after that.
int cuv_websocket_next(cuv_websocket *_Nonnull socket, cuv_websocket_part *_Nonnull out);

// Timer (timer.c): each loop has one; the heap of deadlines is in Swift

typedef void (*cuv_expire)(void *_Nonnull context);

int cuv_timer_create(cuv_loop *_Nonnull loop, void *_Nonnull context, cuv_expire _Nonnull expire,
                     cuv_timer *_Nullable *_Nonnull out);
/// Arms the timer for a time of `cuv_now`, at least 1. A time in the past expires at once.
int cuv_timer_arm(cuv_timer *_Nonnull timer, int64_t nanoseconds);
void cuv_timer_destroy(cuv_timer *_Nonnull timer);

// Input (input.c): a descriptor that is not a socket, such as a terminal

typedef void (*cuv_readable)(void *_Nonnull context);

/// Calls back while `descriptor` has unread bytes or has reached its end. Watches a duplicate, so
/// the caller keeps `descriptor`, whose flags stay as they are.
int cuv_input_create(cuv_loop *_Nonnull loop, int descriptor, void *_Nonnull context,
                     cuv_readable _Nonnull readable, cuv_input *_Nullable *_Nonnull out);
void cuv_input_destroy(cuv_input *_Nonnull input);

// Interfaces (interfaces.c) and names (lookup.c)

enum {
  CUV_INTERFACE_UP = 1,
  CUV_INTERFACE_RUNNING = 2,
  CUV_INTERFACE_LOOPBACK = 4,
  CUV_INTERFACE_MULTICAST = 8,
  CUV_INTERFACE_POINT_TO_POINT = 16,
};

/// An interface and one of its addresses; `address.family` is 0 if the entry has no address. An
/// entry with an address may lack the name and the flags; an earlier entry with the same index has
/// them.
typedef struct {
  char name[16];
  uint32_t index, flags;
  // The number of times that the carrier was gained or lost, and the MTU in bytes; each is 0 if
  // unknown.
  uint32_t carrier_changes, largest_packet;
  cuv_endpoint address;
  uint8_t prefix_length;
} cuv_interface_entry;

/// Writes up to `capacity` entries to `out`, and returns their total number or a negative errno.
int cuv_interfaces(cuv_interface_entry *_Nullable out, size_t capacity);

typedef void (*cuv_changed)(void *_Nonnull context);

/// Calls back when interfaces or addresses are added, removed or changed.
int cuv_monitor_create(cuv_loop *_Nonnull loop, void *_Nonnull context,
                       cuv_changed _Nonnull changed, cuv_monitor *_Nullable *_Nonnull out);
void cuv_monitor_destroy(cuv_monitor *_Nonnull monitor);

enum { CUV_NAME_UNKNOWN = 1, CUV_NAME_TRY_AGAIN = 2, CUV_NAME_FAILED = 3 };

/// Receives the result of a lookup. `status` is 0 or CUV_NAME_…; the ports of the addresses are 0.
typedef void (*cuv_looked_up)(void *_Nonnull context, int status,
                              const cuv_endpoint *_Nullable addresses, size_t count);

/// Looks up a host's addresses with the system's resolver, on another thread.
int cuv_lookup_create(cuv_loop *_Nonnull loop, const char *_Nonnull host, void *_Nonnull context,
                      cuv_looked_up _Nonnull done, cuv_lookup *_Nullable *_Nonnull out);
/// Frees the lookup. If it has not called back yet, it is cancelled and does not call back.
void cuv_lookup_destroy(cuv_lookup *_Nonnull lookup);

#endif
