#include "cuvloop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

struct cuv_websocket {
  wslay_frame_context_ptr frames;
  const uint8_t *input;  // valid until cuv_websocket_next has returned 0
  size_t left;
};

static ssize_t read_input(uint8_t *buffer, size_t capacity, int flags, void *context) {
  cuv_websocket *socket = context;
  (void)flags;
  size_t count = socket->left < capacity ? socket->left : capacity;
  if (count == 0) return -1;  // wslay reports WSLAY_ERR_WANT_READ
  memcpy(buffer, socket->input, count);
  socket->input += count;
  socket->left -= count;
  return (ssize_t)count;
}

int cuv_websocket_create(cuv_websocket **out) {
  cuv_websocket *socket = calloc(1, sizeof *socket);
  if (socket == NULL) return -ENOMEM;
  struct wslay_frame_callbacks callbacks = {.recv_callback = read_input};
  if (wslay_frame_context_init(&socket->frames, &callbacks, socket) != 0) {
    free(socket);
    return -ENOMEM;
  }
  *out = socket;
  return 0;
}

void cuv_websocket_destroy(cuv_websocket *socket) {
  wslay_frame_context_free(socket->frames);
  free(socket);
}

void cuv_websocket_feed(cuv_websocket *socket, const uint8_t *bytes, size_t count) {
  socket->input = bytes;
  socket->left = count;
}

int cuv_websocket_next(cuv_websocket *socket, cuv_websocket_part *out) {
  struct wslay_frame_iocb part;
  memset(&part, 0, sizeof part);
  ssize_t status = wslay_frame_recv(socket->frames, &part);
  if (status == WSLAY_ERR_WANT_READ) {
    socket->input = NULL;
    return 0;
  }
  if (status < 0) return -EPROTO;
  *out = (cuv_websocket_part){
      .frame_length = part.payload_length,
      .bytes = part.data,
      .count = part.data_length,
      .opcode = part.opcode,
      .reserved = part.rsv,
      .final = part.fin != 0,
      .masked = part.mask != 0,
  };
  return 1;
}
