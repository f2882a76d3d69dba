#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  ACCEPTS = 64,         // connections accepted before other handles are served
  READS = 4,            // full buffers read before other handles are served
  FIRST_QUEUE = 16384,  // bytes
  KEPT_QUEUE = 262144,  // the capacity that an empty queue keeps, in bytes
};

// Listener

struct cuv_listener {
  cuv_watch watch;
  void *context;
  cuv_accept accept;
  bool scarce;  // the last connection took a reserved descriptor
};

static void free_data(uv_handle_t *handle) { free(handle->data); }

/// Returns whether the next descriptor to be opened is a reserved one, or there is none.
static bool is_next_reserved(int fd) {
  int next = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (next < 0) return true;
  close(next);
  return cuv_is_reserved(next);
}

static int accept_connection(cuv_listener *listener, cuv_endpoint *peer) {
  int fd = listener->watch.fd;
  if (listener->scarce && is_next_reserved(fd)) return -EMFILE;
  cuv_address address;
  socklen_t length = sizeof address;
#if defined(__linux__)
  int descriptor = accept4(fd, &address.any, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
  int descriptor = accept(fd, &address.any, &length);
#endif
  if (descriptor < 0) return -errno;
  listener->scarce = cuv_is_reserved(descriptor);
  cuv_endpoint_from(&address.any, peer);
  return descriptor;
}

static bool is_out_of_resources(int status) {
  return status == -EMFILE || status == -ENFILE || status == -ENOBUFS || status == -ENOMEM;
}

/// Returns whether a connection waits to be accepted. Without free descriptors, accept() fails even
/// if no connection waits.
static bool has_waiting(int fd) {
  struct pollfd wanted = {.fd = fd, .events = POLLIN};
  return poll(&wanted, 1, 0) > 0;
}

static void on_acceptable(uv_poll_t *poll, int status, int events) {
  cuv_listener *listener = poll->data;
  (void)events;
  if (status < 0) {
    cuv_watch_stopped(&listener->watch);
    cuv_listener_set_accepting(listener, true);
  }
  for (int count = 0; count < ACCEPTS; count++) {
    cuv_endpoint peer = {0};
    int descriptor = accept_connection(listener, &peer);
    if (descriptor == -EAGAIN || descriptor == -EWOULDBLOCK) break;
    if (is_out_of_resources(descriptor) && !has_waiting(listener->watch.fd)) break;
    if (descriptor == -EINTR) continue;
    listener->accept(listener->context, descriptor, &peer);
    if (listener->watch.closed || listener->watch.events == 0) return;
  }
}

static int open_listener(const cuv_listen_options *options) {
  bool v6 = options->local.family == 6;
  cuv_address address;
  socklen_t length = cuv_address_from(&options->local, v6, &address);
  int fd = cuv_socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM);
  if (fd < 0) return fd;
  int status = cuv_set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);  // ignore TIME_WAIT
  if (status == 0 && options->reuse_port) status = cuv_share_port(fd);
  if (status == 0 && v6) status = cuv_set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY, options->v6_only);
  if (status == 0 && bind(fd, &address.any, length) != 0) status = -errno;
  if (status == 0 && listen(fd, options->backlog) != 0) status = -errno;
  if (status == 0) return fd;
  close(fd);
  return status;
}

int cuv_listener_create(cuv_loop *loop, const cuv_listen_options *options, void *context,
                        cuv_accept accept, cuv_listener **out) {
  cuv_listener *listener = calloc(1, sizeof *listener);
  if (listener == NULL) return -ENOMEM;
  listener->context = context;
  listener->accept = accept;
  int fd = open_listener(options);
  int status = fd < 0 ? fd : cuv_watch_open(loop, &listener->watch, fd);
  if (status != 0) {
    free(listener);
    return status;
  }
  listener->watch.poll.data = listener;
  status = cuv_listener_set_accepting(listener, true);
  if (status != 0) {
    cuv_listener_destroy(listener);
    return status;
  }
  *out = listener;
  return 0;
}

void cuv_listener_destroy(cuv_listener *listener) {
  // A process that is being started has copies of all descriptors until it executes its program. As
  // long as it has one, a socket that was merely closed would still complete connections.
  shutdown(listener->watch.fd, SHUT_RDWR);
  cuv_watch_close(&listener->watch, free_data);
}

int cuv_listener_local(const cuv_listener *listener, cuv_endpoint *out) {
  return cuv_local_name(listener->watch.fd, out);
}

int cuv_listener_set_accepting(cuv_listener *listener, bool on) {
  return cuv_watch_set(&listener->watch, on ? UV_READABLE : 0, on_acceptable);
}

// Stream

struct cuv_stream {
  cuv_watch watch;
  cuv_loop *loop;
  void *context;
  cuv_stream_callback callback;
  bool connecting, reads;
  uint8_t *queue;  // the bytes to send are those from `head` to `end`
  size_t capacity, head, end;
};

static void on_stream(uv_poll_t *poll, int status, int events);

static int watch_stream(cuv_stream *stream) {
  int events = stream->connecting || stream->head < stream->end ? UV_WRITABLE : 0;
  if (stream->reads && !stream->connecting) events |= UV_READABLE;
  return cuv_watch_set(&stream->watch, events, on_stream);
}

static void report(cuv_stream *stream, cuv_stream_event event, size_t count, int error) {
  const uint8_t *bytes = event == CUV_STREAM_BYTES ? stream->loop->scratch : NULL;
  stream->callback(stream->context, event, bytes, count, error);
}

/// Returns whether a socket is connected to itself, which can happen on loopback when the system
/// chooses the destination port as the local port.
static bool is_self_connected(int fd) {
  cuv_endpoint local, peer;
  cuv_address address;
  socklen_t length = sizeof address;
  if (cuv_local_name(fd, &local) != 0 || getpeername(fd, &address.any, &length) != 0) return false;
  cuv_endpoint_from(&address.any, &peer);
  return local.port == peer.port && local.low == peer.low && local.high == peer.high;
}

static void finish_connect(cuv_stream *stream) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(stream->watch.fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error == 0 && is_self_connected(stream->watch.fd)) error = ECONNREFUSED;
  stream->connecting = false;
  report(stream, CUV_STREAM_CONNECTED, 0, -error);
}

static void read_all(cuv_stream *stream) {
  for (int turn = 0; turn < READS && stream->reads; turn++) {
    ssize_t count = recv(stream->watch.fd, stream->loop->scratch, CUV_SCRATCH, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (count <= 0) stream->reads = false;
    if (count < 0) {
      report(stream, CUV_STREAM_FAILED, 0, -errno);
    } else if (count == 0) {
      report(stream, CUV_STREAM_END, 0, 0);
    } else {
      report(stream, CUV_STREAM_BYTES, (size_t)count, 0);
    }
    if (stream->watch.closed || count < CUV_SCRATCH) return;
  }
}

/// Sends as many of `bytes` as the system accepts. Returns their number, or a negative errno that
/// ends the stream.
static ssize_t send_some(cuv_stream *stream, const uint8_t *bytes, size_t count) {
  size_t sent = 0;
  while (sent < count) {
    ssize_t step =
        send(stream->watch.fd, bytes + sent, count - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (step >= 0) {
      sent += (size_t)step;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
      break;
    } else if (errno != EINTR) {
      return -errno;
    }
  }
  return (ssize_t)sent;
}

/// Empties the queue, and frees its memory if it has grown large.
static void empty_queue(cuv_stream *stream) {
  stream->head = stream->end = 0;
  if (stream->capacity <= KEPT_QUEUE) return;
  free(stream->queue);
  stream->queue = NULL;
  stream->capacity = 0;
}

static void send_queue(cuv_stream *stream) {
  ssize_t sent = send_some(stream, stream->queue + stream->head, stream->end - stream->head);
  if (sent < 0) {
    stream->head = stream->end = 0;
    report(stream, CUV_STREAM_FAILED, 0, (int)sent);
    return;
  }
  stream->head += (size_t)sent;
  if (stream->head == stream->end) empty_queue(stream);
  if (sent > 0) report(stream, CUV_STREAM_SENT, (size_t)sent, 0);
}

static void on_stream(uv_poll_t *poll, int status, int events) {
  cuv_stream *stream = poll->data;
  if (status < 0) {
    cuv_watch_stopped(&stream->watch);
    events = UV_READABLE | UV_WRITABLE;
  }
  if (stream->connecting) {
    finish_connect(stream);
  } else {
    // Read first, since bytes that arrived before a reset can still be read.
    if ((events & UV_READABLE) != 0) read_all(stream);
    if (!stream->watch.closed && stream->head < stream->end && (events & UV_WRITABLE) != 0)
      send_queue(stream);
  }
  if (!stream->watch.closed) watch_stream(stream);
}

static void free_stream(uv_handle_t *handle) {
  cuv_stream *stream = handle->data;
  free(stream->queue);
  free(stream);
}

void cuv_descriptor_close(int descriptor) { close(descriptor); }

int cuv_stream_create(cuv_loop *loop, int descriptor, void *context, cuv_stream_callback callback,
                      cuv_stream **out) {
  cuv_stream *stream = calloc(1, sizeof *stream);
  if (stream == NULL) {
    close(descriptor);
    return -ENOMEM;
  }
  stream->loop = loop;
  stream->context = context;
  stream->callback = callback;
#if defined(SO_NOSIGPIPE)
  cuv_set_flag(descriptor, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
  cuv_set_flag(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  int status = cuv_watch_open(loop, &stream->watch, descriptor);
  if (status != 0) {
    free(stream);
    return status;
  }
  stream->watch.poll.data = stream;
  *out = stream;
  return 0;
}

int cuv_stream_connect(cuv_loop *loop, const cuv_endpoint *peer, void *context,
                       cuv_stream_callback callback, cuv_stream **out) {
  bool v6 = peer->family == 6;
  cuv_address address;
  socklen_t length = cuv_address_from(peer, v6, &address);
  int fd = cuv_socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM);
  if (fd < 0) return fd;
  if (connect(fd, &address.any, length) != 0 && errno != EINPROGRESS && errno != EINTR) {
    int status = -errno;
    close(fd);
    return status;
  }
  cuv_stream *stream = NULL;
  int status = cuv_stream_create(loop, fd, context, callback, &stream);
  if (status != 0) return status;
  stream->connecting = true;
  status = watch_stream(stream);
  if (status != 0) {
    cuv_stream_destroy(stream, true);
    return status;
  }
  *out = stream;
  return 0;
}

void cuv_stream_set_context(cuv_stream *stream, void *context, cuv_stream_callback callback) {
  stream->context = context;
  stream->callback = callback;
}

void cuv_stream_destroy(cuv_stream *stream, bool reset) {
  struct linger linger = {.l_onoff = 1, .l_linger = 0};
  if (stream->watch.closed) return;
  if (reset) setsockopt(stream->watch.fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
  cuv_watch_close(&stream->watch, free_stream);
}

int cuv_stream_detach(cuv_stream *stream) {
  if (stream->connecting || stream->head < stream->end) return -EBUSY;
  return cuv_watch_detach(&stream->watch, free_stream);
}

int cuv_stream_local(const cuv_stream *stream, cuv_endpoint *out) {
  return cuv_local_name(stream->watch.fd, out);
}

int cuv_stream_set_reading(cuv_stream *stream, bool on) {
  stream->reads = on;
  return watch_stream(stream);
}

static int enqueue(cuv_stream *stream, const uint8_t *bytes, size_t count) {
  if (stream->end + count > stream->capacity && stream->head > 0) {
    memmove(stream->queue, stream->queue + stream->head, stream->end - stream->head);
    stream->end -= stream->head;
    stream->head = 0;
  }
  if (stream->end + count > stream->capacity) {
    size_t next = stream->capacity == 0 ? FIRST_QUEUE : stream->capacity;
    while (next < stream->end + count) next *= 2;
    uint8_t *larger = realloc(stream->queue, next);
    if (larger == NULL) return -ENOMEM;
    stream->queue = larger;
    stream->capacity = next;
  }
  memcpy(stream->queue + stream->end, bytes, count);
  stream->end += count;
  return 0;
}

int cuv_stream_write(cuv_stream *stream, const uint8_t *bytes, size_t count) {
  ssize_t sent = 0;
  if (stream->watch.closed) return -EPIPE;
  if (stream->head == stream->end) sent = send_some(stream, bytes, count);
  if (sent < 0) return (int)sent;
  if ((size_t)sent == count) return 0;
  int status = enqueue(stream, bytes + sent, count - (size_t)sent);
  return status != 0 ? status : watch_stream(stream);
}

size_t cuv_stream_queued(const cuv_stream *stream) { return stream->end - stream->head; }

int cuv_stream_shutdown(cuv_stream *stream) {
  return shutdown(stream->watch.fd, SHUT_WR) == 0 ? 0 : -errno;
}

int cuv_stream_keep_alive(cuv_stream *stream, int idle, int interval, int count) {
  int fd = stream->watch.fd;
  int status = cuv_set_flag(fd, SOL_SOCKET, SO_KEEPALIVE, idle > 0);
  if (status != 0 || idle == 0) return status;
#if defined(__linux__)
  status = cuv_set_flag(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle);
#else
  status = cuv_set_flag(fd, IPPROTO_TCP, TCP_KEEPALIVE, idle);
#endif
  if (status == 0) status = cuv_set_flag(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  if (status == 0) status = cuv_set_flag(fd, IPPROTO_TCP, TCP_KEEPCNT, count);
  return status;
}

int cuv_stream_user_timeout(cuv_stream *stream, int milliseconds) {
#if defined(TCP_USER_TIMEOUT)
  return cuv_set_flag(stream->watch.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, milliseconds);
#else
  (void)stream;
  (void)milliseconds;
  return -ENOTSUP;
#endif
}

int cuv_stream_send_buffer(cuv_stream *stream, int bytes) {
  return cuv_set_flag(stream->watch.fd, SOL_SOCKET, SO_SNDBUF, bytes);
}
