#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

struct cuv_input {
  cuv_watch watch;
  void *context;
  cuv_readable readable;
};

static void on_readable(uv_poll_t *poll, int status, int events) {
  cuv_input *input = poll->data;
  (void)events;
  if (status < 0) cuv_watch_stopped(&input->watch);
  input->readable(input->context);
}

int cuv_input_create(cuv_loop *loop, int descriptor, void *context, cuv_readable readable,
                     cuv_input **out) {
  cuv_input *input = calloc(1, sizeof *input);
  if (input == NULL) return -ENOMEM;
  input->context = context;
  input->readable = readable;
  int flags = fcntl(descriptor, F_GETFL);
  int fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  int status = fd < 0 ? -errno : cuv_watch_open(loop, &input->watch, fd);
  if (status != 0) {
    free(input);
    return status;
  }
  // libuv makes the open file non-blocking. A terminal's is shared with other descriptors and
  // processes, such as the shell, whose writes would then fail with EAGAIN.
  if ((flags & O_NONBLOCK) == 0) fcntl(fd, F_SETFL, flags);
  input->watch.poll.data = input;
  status = cuv_watch_set(&input->watch, UV_READABLE, on_readable);
  if (status != 0) {
    cuv_input_destroy(input);
    return status;
  }
  *out = input;
  return 0;
}

static void free_input(uv_handle_t *handle) { free(handle->data); }

void cuv_input_destroy(cuv_input *input) { cuv_watch_close(&input->watch, free_input); }
