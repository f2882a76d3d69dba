#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

// A usual echo server on libuv, with batched receives and try_send or try_write.

enum { CHUNK = 64 * 1024, CHUNKS = 20 };

typedef struct {
  uv_loop_t loop;
  uv_poll_t stop;
  char *memory;
} state;

static void close_all(uv_handle_t *handle, void *argument) {
  (void)argument;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void on_stop(uv_poll_t *poll, int status, int events) {
  (void)status;
  (void)events;
  uv_walk(poll->loop, close_all, NULL);
}

static void begin(state *s, const echo_server *server) {
  s->memory = malloc((size_t)CHUNK * CHUNKS);
  uv_loop_init(&s->loop);
  s->loop.data = s;
  uv_poll_init(&s->loop, &s->stop, server->stop);
  uv_poll_start(&s->stop, UV_READABLE, on_stop);
}

static void end(state *s) {
  uv_run(&s->loop, UV_RUN_DEFAULT);
  uv_loop_close(&s->loop);
  free(s->memory);
}

static void give_memory(uv_handle_t *handle, size_t size, uv_buf_t *out) {
  (void)size;
  state *s = handle->loop->data;
  *out = uv_buf_init(s->memory, CHUNK * CHUNKS);
}

static void on_datagram(uv_udp_t *udp, ssize_t count, const uv_buf_t *bytes,
                        const struct sockaddr *peer, unsigned flags) {
  (void)flags;
  if (count < 0 || peer == NULL) return;
  uv_buf_t answer = uv_buf_init(bytes->base, (unsigned)count);
  uv_udp_try_send(udp, &answer, 1, peer);
}

void *echo_uv_udp(void *argument) {
  echo_server *server = argument;
  state s;
  uv_udp_t udp;
  begin(&s, server);
  uv_udp_init_ex(&s.loop, &udp, UV_UDP_RECVMMSG);
  uv_udp_open(&udp, server->socket);
  uv_udp_recv_start(&udp, give_memory, on_datagram);
  end(&s);
  return NULL;
}

static void free_stream(uv_handle_t *handle) { free(handle); }

typedef struct {
  uv_write_t request;
  char bytes[];
} late_bytes;

static void on_written(uv_write_t *request, int status) {
  (void)status;
  free(request);
}

/// Copies the bytes that the socket did not accept, and writes them when it accepts more.
static void write_later(uv_stream_t *stream, const char *bytes, size_t count) {
  late_bytes *late = malloc(sizeof *late + count);
  if (late == NULL) return;
  memcpy(late->bytes, bytes, count);
  uv_buf_t answer = uv_buf_init(late->bytes, (unsigned)count);
  if (uv_write(&late->request, stream, &answer, 1, on_written) != 0) free(late);
}

static void on_bytes(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes) {
  if (count < 0) {
    uv_close((uv_handle_t *)stream, free_stream);
    return;
  }
  uv_buf_t answer = uv_buf_init(bytes->base, (unsigned)count);
  int written = uv_try_write(stream, &answer, 1);
  if (written < 0) written = 0;
  if (written < count) write_later(stream, bytes->base + written, (size_t)(count - written));
}

static void on_connection(uv_stream_t *listener, int status) {
  uv_tcp_t *peer = malloc(sizeof *peer);
  if (status < 0 || peer == NULL) return;
  uv_tcp_init(listener->loop, peer);
  if (uv_accept(listener, (uv_stream_t *)peer) != 0) return;
  uv_tcp_nodelay(peer, 1);
  uv_read_start((uv_stream_t *)peer, give_memory, on_bytes);
}

void *echo_uv_tcp(void *argument) {
  echo_server *server = argument;
  state s;
  uv_tcp_t listener;
  begin(&s, server);
  uv_tcp_init(&s.loop, &listener);
  uv_tcp_open(&listener, server->socket);
  uv_listen((uv_stream_t *)&listener, 16, on_connection);
  end(&s);
  return NULL;
}
