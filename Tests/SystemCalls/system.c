#include "faults.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

// Descriptors

int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  if (sc_fails(SC_FCNTL, descriptor, command)) return -1;
  int result = SC_REAL(fcntl)(descriptor, command, argument);
  bool opens = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return opens ? sc_opened(result) : result;
}

int ioctl(int descriptor, unsigned long operation, ...) {
  va_list arguments;
  va_start(arguments, operation);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  if (sc_fails(SC_IOCTL, descriptor, (int)operation)) return -1;
  return SC_REAL(ioctl)(descriptor, operation, argument);
}

int poll(struct pollfd *descriptors, nfds_t count, int timeout) {
  if (sc_fails(SC_POLL, SC_ANY, SC_ANY)) return -1;
  return SC_REAL(poll)(descriptors, count, timeout);
}

// Time

SC_THREAD int64_t stopped_clock;  // the time in nanoseconds at which the clock has stopped, or 0

void sc_stop_clock(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) abort();
  stopped_clock = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void sc_advance_clock(int64_t nanoseconds) { stopped_clock += nanoseconds; }

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (stopped_clock == 0 || clock != CLOCK_MONOTONIC) return SC_REAL(clock_gettime)(clock, time);
  time->tv_sec = stopped_clock / 1000000000;
  time->tv_nsec = stopped_clock % 1000000000;
  return 0;
}

int timerfd_create(clockid_t clock, int flags) {
  if (sc_fails(SC_TIMERFD_CREATE, SC_ANY, SC_ANY)) return -1;
  return sc_opened(SC_REAL(timerfd_create)(clock, flags));
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *when,
                    struct itimerspec *before) {
  if (sc_fails(SC_TIMERFD_SETTIME, descriptor, SC_ANY)) return -1;
  if (stopped_clock != 0) return 0;
  return SC_REAL(timerfd_settime)(descriptor, flags, when, before);
}

// Events

int eventfd(unsigned value, int flags) {
  if (sc_fails(SC_EVENTFD, SC_ANY, SC_ANY)) return -1;
  return sc_opened(SC_REAL(eventfd)(value, flags));
}

int pipe2(int descriptors[2], int flags) {
  if (sc_fails(SC_PIPE, SC_ANY, SC_ANY)) return -1;
  int status = SC_REAL(pipe2)(descriptors, flags);
  for (int end = 0; status == 0 && end < 2; end++) sc_count_opened(descriptors[end]);
  return status;
}

int epoll_create1(int flags) {
  if (sc_fails(SC_EPOLL_CREATE, SC_ANY, SC_ANY)) return -1;
  return sc_opened(SC_REAL(epoll_create1)(flags));
}

int epoll_ctl(int epoll, int operation, int descriptor, struct epoll_event *event) {
  if (sc_fails(SC_EPOLL_CTL, descriptor, operation)) return -1;
  return SC_REAL(epoll_ctl)(epoll, operation, descriptor, event);
}

int epoll_wait(int epoll, struct epoll_event *events, int capacity, int timeout) {
  if (sc_fails(SC_EPOLL_WAIT, epoll, SC_ANY)) return -1;
  return SC_REAL(epoll_wait)(epoll, events, capacity, timeout);
}

int epoll_pwait(int epoll, struct epoll_event *events, int capacity, int timeout,
                const sigset_t *mask) {
  if (sc_fails(SC_EPOLL_WAIT, epoll, SC_ANY)) return -1;
  return SC_REAL(epoll_pwait)(epoll, events, capacity, timeout, mask);
}

FILE *fopen(const char *path, const char *mode) {
  const sc_fault *fault = sc_armed == 0 ? NULL : sc_meet(SC_FOPEN, SC_ANY, SC_ANY, 0);
  if (fault != NULL && fault->error != 0) return NULL;
  return SC_REAL(fopen)(fault == NULL ? path : "/", mode);  // a folder can be opened, but not read
}

// Threads and memory

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *context) {
  if (sc_fails(SC_PTHREAD_CREATE, SC_ANY, SC_ANY)) return errno;
  return SC_REAL(pthread_create)(thread, attributes, body, context);
}

/// The loader and the sanitizers allocate before a sanitizer is ready for instrumented code.
#define SC_EARLY __attribute__((disable_sanitizer_instrumentation))

/// Returns whether an allocation must fail. Only the executable's own code lacks memory, since the
/// Swift runtime, which allocates at any time, would trap.
SC_EARLY static inline bool lacks_memory(sc_call call, size_t size, const void *caller) {
  extern const char __executable_start, etext;
  if (sc_armed == 0) return false;
  bool is_own = (const char *)caller >= &__executable_start && (const char *)caller < &etext;
  return is_own && sc_meet(call, SC_ANY, SC_ANY, size) != NULL;
}

#define SC_LACKS_MEMORY(call, size) lacks_memory(call, size, __builtin_return_address(0))

// dlsym itself allocates, so the C library's own names are used in place of SC_REAL.
#define SC_MEMORY(name)                                                      \
  ({                                                                         \
    extern __attribute__((weak)) __typeof__(name) __interceptor_##name;      \
    extern __typeof__(name) __libc_##name;                                   \
    &__interceptor_##name != NULL ? &__interceptor_##name : &__libc_##name;  \
  })

SC_EARLY void *malloc(size_t size) {
  return SC_LACKS_MEMORY(SC_MALLOC, size) ? NULL : SC_MEMORY(malloc)(size);
}

SC_EARLY void *calloc(size_t count, size_t size) {
  return SC_LACKS_MEMORY(SC_CALLOC, count * size) ? NULL : SC_MEMORY(calloc)(count, size);
}

SC_EARLY void *realloc(void *memory, size_t size) {
  return SC_LACKS_MEMORY(SC_REALLOC, size) ? NULL : SC_MEMORY(realloc)(memory, size);
}

// Names: libuv looks them up on its own threads, so the faults belong to names.

enum { HOSTS = 32 };

static struct {
  char name[64];
  int error, code;
} hosts[HOSTS];
static pthread_mutex_t hosts_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int host_count;

void sc_fail_lookup(const char *host, int error, int code) {
  pthread_mutex_lock(&hosts_lock);
  int index = 0;
  while (index < host_count && strcmp(hosts[index].name, host) != 0) index++;
  if (index == HOSTS) abort();
  snprintf(hosts[index].name, sizeof hosts[index].name, "%s", host);
  hosts[index].error = error;
  hosts[index].code = code;
  if (index == host_count) host_count++;
  pthread_mutex_unlock(&hosts_lock);
}

static bool is_failing(const char *host, int *error, int *code) {
  bool found = false;
  if (host == NULL || host_count == 0) return false;
  pthread_mutex_lock(&hosts_lock);
  for (int index = 0; index < host_count && !found; index++) {
    found = strcmp(hosts[index].name, host) == 0;
    *error = hosts[index].error;
    *code = hosts[index].code;
  }
  pthread_mutex_unlock(&hosts_lock);
  return found;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **out) {
  int error, code;
  if (!is_failing(host, &error, &code))
    return SC_REAL(getaddrinfo)(host, service, hints, out);
  *out = NULL;
  errno = code;
  return error;
}
#endif
