#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/timerfd.h>

// A timerfd, since libuv's own timers have a resolution of only one millisecond.
struct cuv_timer {
  cuv_watch watch;
  void *context;
  cuv_expire expire;
};

static void on_expired(uv_poll_t *poll, int status, int events) {
  cuv_timer *timer = poll->data;
  uint64_t expirations;
  (void)events;
  if (status < 0) cuv_watch_stopped(&timer->watch);
  if (read(timer->watch.fd, &expirations, sizeof expirations) > 0) timer->expire(timer->context);
}

int cuv_timer_create(cuv_loop *loop, void *context, cuv_expire expire, cuv_timer **out) {
  cuv_timer *timer = calloc(1, sizeof *timer);
  if (timer == NULL) return -ENOMEM;
  timer->context = context;
  timer->expire = expire;
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  int status = fd < 0 ? -errno : cuv_watch_open(loop, &timer->watch, fd);
  if (status != 0) {
    free(timer);
    return status;
  }
  timer->watch.poll.data = timer;
  status = cuv_watch_set(&timer->watch, UV_READABLE, on_expired);
  if (status != 0) {
    cuv_timer_destroy(timer);
    return status;
  }
  *out = timer;
  return 0;
}

int cuv_timer_arm(cuv_timer *timer, int64_t nanoseconds) {
  struct itimerspec when = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000}};
  int status = timerfd_settime(timer->watch.fd, TFD_TIMER_ABSTIME, &when, NULL);
  return status == 0 ? 0 : -errno;
}

static void free_timer(uv_handle_t *handle) { free(handle->data); }

void cuv_timer_destroy(cuv_timer *timer) { cuv_watch_close(&timer->watch, free_timer); }

#else

struct cuv_timer {
  uv_timer_t uv;
  void *context;
  cuv_expire expire;
};

static void on_expired(uv_timer_t *uv) {
  cuv_timer *timer = uv->data;
  timer->expire(timer->context);
}

int cuv_timer_create(cuv_loop *loop, void *context, cuv_expire expire, cuv_timer **out) {
  cuv_timer *timer = calloc(1, sizeof *timer);
  if (timer == NULL) return -ENOMEM;
  timer->context = context;
  timer->expire = expire;
  uv_timer_init(&loop->uv, &timer->uv);
  timer->uv.data = timer;
  *out = timer;
  return 0;
}

int cuv_timer_arm(cuv_timer *timer, int64_t nanoseconds) {
  int64_t left = nanoseconds - cuv_now();
  uv_update_time(timer->uv.loop);
  return uv_timer_start(&timer->uv, on_expired, left <= 0 ? 0 : (left + 999999) / 1000000, 0);
}

static void free_timer(uv_handle_t *handle) { free(handle->data); }

void cuv_timer_destroy(cuv_timer *timer) { uv_close((uv_handle_t *)&timer->uv, free_timer); }

#endif
