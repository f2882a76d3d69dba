#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
  RESERVED_PART = 32,   // one of so many descriptors is reserved,
  MAX_RESERVED = 64,    // but no more than this,
  MIN_DIVISIBLE = 128,  // and none of fewer than this
};

static _Thread_local void *current;

void *cuv_current(void) { return current; }
void cuv_set_current(void *pointer) { current = pointer; }

int64_t cuv_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t cuv_time_suspended(void) {
#if defined(CLOCK_BOOTTIME)
  struct timespec all, awake;
  clock_gettime(CLOCK_MONOTONIC, &awake);
  clock_gettime(CLOCK_BOOTTIME, &all);
  return ((int64_t)all.tv_sec - awake.tv_sec) * 1000000000 + all.tv_nsec - awake.tv_nsec;
#else
  return 0;
#endif
}

// Loop

static void on_wake(uv_async_t *wake) { ((cuv_loop *)wake->data)->woken = true; }

static void drain(cuv_loop *loop) {
  bool woken = loop->woken;
  loop->woken = false;
  loop->drain(loop->context, woken);
}

static void on_prepare(uv_prepare_t *prepare) { drain(prepare->data); }
static void on_check(uv_check_t *check) { drain(check->data); }

int cuv_loop_create(void *context, cuv_drain drain, cuv_loop **out) {
  cuv_loop *loop = calloc(1, sizeof *loop);
  if (loop == NULL) return -ENOMEM;
  loop->context = context;
  loop->drain = drain;
  int status = uv_loop_init(&loop->uv);
  if (status == 0) {
    status = uv_async_init(&loop->uv, &loop->wake, on_wake);
    if (status != 0) uv_loop_close(&loop->uv);
  } else if (uv_backend_fd(&loop->uv) > 0) {
    close(uv_backend_fd(&loop->uv));  // libuv leaves it open if a later step fails
  }
  if (status != 0) {
    free(loop);
    return status;
  }
  uv_prepare_init(&loop->uv, &loop->prepare);
  uv_check_init(&loop->uv, &loop->check);
  loop->wake.data = loop->prepare.data = loop->check.data = loop;
  uv_prepare_start(&loop->prepare, on_prepare);
  uv_check_start(&loop->check, on_check);
  *out = loop;
  return 0;
}

void cuv_loop_run(cuv_loop *loop, bool spin) {
  while (spin && !loop->stopped) uv_run(&loop->uv, UV_RUN_NOWAIT);
  uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void cuv_loop_wake(cuv_loop *loop) { uv_async_send(&loop->wake); }

typedef struct {
  char *names;
  size_t capacity, length;
  int count;
} listing;

static void list_open(uv_handle_t *handle, void *argument) {
  listing *list = argument;
  if (uv_is_closing(handle)) return;
  list->count++;
  const char *name = uv_handle_type_name(uv_handle_get_type(handle));
  int written = snprintf(list->names + list->length, list->capacity - list->length, "%s%s",
                         list->length == 0 ? "" : ", ", name == NULL ? "unknown" : name);
  if (written > 0 && (size_t)written < list->capacity - list->length) list->length += written;
}

int cuv_loop_stop(cuv_loop *loop, char *names, size_t capacity) {
  listing list = {.names = names, .capacity = capacity};
  loop->stopped = true;
  uv_close((uv_handle_t *)&loop->wake, NULL);
  uv_close((uv_handle_t *)&loop->prepare, NULL);
  uv_close((uv_handle_t *)&loop->check, NULL);
  names[0] = 0;
  uv_walk(&loop->uv, list_open, &list);
  return list.count;
}

int cuv_loop_destroy(cuv_loop *loop) {
  int status = uv_loop_close(&loop->uv);
  if (status == 0) free(loop);
  return status;
}

// Locks and threads

struct cuv_lock {
  pthread_mutex_t mutex;
};

cuv_lock *cuv_lock_create(void) {
  cuv_lock *lock = calloc(1, sizeof *lock);
  if (lock == NULL) abort();
  pthread_mutex_init(&lock->mutex, NULL);
  return lock;
}

void cuv_lock_acquire(cuv_lock *lock) { pthread_mutex_lock(&lock->mutex); }
void cuv_lock_release(cuv_lock *lock) { pthread_mutex_unlock(&lock->mutex); }

void cuv_lock_destroy(cuv_lock *lock) {
  pthread_mutex_destroy(&lock->mutex);
  free(lock);
}

struct cuv_thread {
  pthread_t id;
};

typedef struct {
  char name[16];
  void *context;
  void (*body)(void *);
} start;

static void *thread_main(void *argument) {
  start begin = *(start *)argument;
  free(argument);
#if defined(__linux__)
  pthread_setname_np(pthread_self(), begin.name);
#endif
  begin.body(begin.context);
  return NULL;
}

int cuv_thread_start(const char *name, void *context, void (*body)(void *), cuv_thread **out) {
  start *begin = calloc(1, sizeof *begin);
  cuv_thread *thread = calloc(1, sizeof *thread);
  if (begin == NULL || thread == NULL) {
    free(begin);
    free(thread);
    return -ENOMEM;
  }
  snprintf(begin->name, sizeof begin->name, "%s", name);
  begin->context = context;
  begin->body = body;
  int status = pthread_create(&thread->id, NULL, thread_main, begin);
  if (status != 0) {
    free(begin);
    free(thread);
    return -status;
  }
  *out = thread;
  return 0;
}

void cuv_thread_join(cuv_thread *thread) {
  pthread_join(thread->id, NULL);
  free(thread);
}

void cuv_thread_detach(cuv_thread *thread) {
  pthread_detach(thread->id);
  free(thread);
}

// Watched descriptors

int cuv_watch_open(cuv_loop *loop, cuv_watch *watch, int fd) {
  watch->fd = fd;
  watch->events = 0;
  watch->closed = false;
  int status = loop->stopped ? -ECANCELED : uv_poll_init(&loop->uv, &watch->poll, fd);
  if (status != 0) close(fd);
  return status;
}

int cuv_watch_set(cuv_watch *watch, int events, uv_poll_cb callback) {
  if (watch->closed || watch->events == events) return 0;
  watch->events = events;
  if (events == 0) return uv_poll_stop(&watch->poll);
  return uv_poll_start(&watch->poll, events, callback);
}

int cuv_watch_detach(cuv_watch *watch, uv_close_cb closed) {
  if (watch->closed) return -EBADF;
  watch->closed = true;
  uv_close((uv_handle_t *)&watch->poll, closed);  // removes it from epoll at once
  return watch->fd;
}

void cuv_watch_close(cuv_watch *watch, uv_close_cb closed) {
  int fd = cuv_watch_detach(watch, closed);
  if (fd >= 0) close(fd);
}

void cuv_watch_stopped(cuv_watch *watch) { watch->events = 0; }

// Addresses

int cuv_set_flag(int fd, int level, int option, int value) {
  return setsockopt(fd, level, option, &value, sizeof value) == 0 ? 0 : -errno;
}

int cuv_share_port(int fd) {
#if defined(SO_REUSEPORT)
  int status = cuv_set_flag(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  return status == -ENOPROTOOPT ? -ENOSYS : status;
#else
  (void)fd;
  return -ENOSYS;
#endif
}

bool cuv_is_reserved(int fd) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  if (limit.rlim_cur < MIN_DIVISIBLE) return false;
  rlim_t reserved = limit.rlim_cur / RESERVED_PART;
  if (reserved > MAX_RESERVED) reserved = MAX_RESERVED;
  return (rlim_t)fd >= limit.rlim_cur - reserved;
}

int cuv_socket(int domain, int type) {
#if defined(__linux__)
  int fd = socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
#else
  int fd = socket(domain, type, 0);
#endif
  if (fd < 0) return -errno;
  if (cuv_is_reserved(fd)) {
    close(fd);
    return -EMFILE;
  }
#if !defined(__linux__)
  fcntl(fd, F_SETFL, O_NONBLOCK);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
#if defined(SO_NOSIGPIPE)
  cuv_set_flag(fd, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
#endif
  return fd;
}

static void store64(uint8_t *bytes, uint64_t value) {
  for (int i = 7; i >= 0; i--, value >>= 8) bytes[i] = (uint8_t)value;
}

static uint64_t load64(const uint8_t *bytes) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value = value << 8 | bytes[i];
  return value;
}

socklen_t cuv_address_from(const cuv_endpoint *endpoint, bool v6, cuv_address *out) {
  memset(out, 0, sizeof *out);
  if (endpoint->family == 4 && !v6) {
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons(endpoint->port);
    out->v4.sin_addr.s_addr = htonl((uint32_t)endpoint->low);
    return sizeof out->v4;
  }
  bool mapped = endpoint->family == 4;
  out->v6.sin6_family = AF_INET6;
  out->v6.sin6_port = htons(endpoint->port);
  out->v6.sin6_scope_id = mapped ? 0 : endpoint->scope;
  store64(out->v6.sin6_addr.s6_addr, mapped ? 0 : endpoint->high);
  store64(out->v6.sin6_addr.s6_addr + 8,
          mapped ? 0xFFFF00000000 | (uint32_t)endpoint->low : endpoint->low);
  return sizeof out->v6;
}

void cuv_endpoint_from_v6(const struct in6_addr *address, cuv_endpoint *out) {
  uint64_t high = load64(address->s6_addr), low = load64(address->s6_addr + 8);
  bool mapped = high == 0 && low >> 32 == 0xFFFF;
  out->family = mapped ? 4 : 6;
  out->high = high;
  out->low = mapped ? (uint32_t)low : low;
}

void cuv_endpoint_from(const struct sockaddr *address, cuv_endpoint *out) {
  memset(out, 0, sizeof *out);
  if (address->sa_family == AF_INET) {
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    out->family = 4;
    out->low = ntohl(v4->sin_addr.s_addr);
    out->port = ntohs(v4->sin_port);
  } else if (address->sa_family == AF_INET6) {
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    cuv_endpoint_from_v6(&v6->sin6_addr, out);
    out->scope = out->family == 6 ? v6->sin6_scope_id : 0;
    out->port = ntohs(v6->sin6_port);
  }
}

int cuv_local_name(int fd, cuv_endpoint *out) {
  cuv_address address;
  socklen_t length = sizeof address;
  if (getsockname(fd, &address.any, &length) != 0) return -errno;
  cuv_endpoint_from(&address.any, out);
  return 0;
}
