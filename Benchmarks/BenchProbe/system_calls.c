#include "bench_probe.h"

// The C library's functions that a network loop calls, defined again so that libuv and CUVLoop
// reach these definitions, which count each call and pass it on to the system.

static _Thread_local uint64_t calls;

uint64_t bench_thread_system_calls(void) { return calls; }

#if defined(__linux__) && defined(__GLIBC__)
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { SIGNALS = 8 };  // bytes in the kernel's sigset_t

#define PASS_ON(number, ...) (calls++, syscall(number, __VA_ARGS__))

ssize_t read(int fd, void *bytes, size_t count) { return PASS_ON(SYS_read, fd, bytes, count); }

ssize_t write(int fd, const void *bytes, size_t count) {
  return PASS_ON(SYS_write, fd, bytes, count);
}

ssize_t recv(int fd, void *bytes, size_t count, int flags) {
  return PASS_ON(SYS_recvfrom, fd, bytes, count, flags, NULL, NULL);
}

ssize_t send(int fd, const void *bytes, size_t count, int flags) {
  return PASS_ON(SYS_sendto, fd, bytes, count, flags, NULL, 0);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
  return PASS_ON(SYS_recvmsg, fd, message, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  return PASS_ON(SYS_sendmsg, fd, message, flags);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *limit) {
  return (int)PASS_ON(SYS_recvmmsg, fd, messages, count, flags, limit);
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags) {
  return (int)PASS_ON(SYS_sendmmsg, fd, messages, count, flags);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
  return (int)PASS_ON(SYS_epoll_ctl, epoll, operation, fd, event);
}

int epoll_pwait(int epoll, struct epoll_event *events, int count, int milliseconds,
                const sigset_t *signals) {
  return (int)PASS_ON(SYS_epoll_pwait, epoll, events, count, milliseconds, signals, SIGNALS);
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int milliseconds) {
  return epoll_pwait(epoll, events, count, milliseconds, NULL);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *time, struct itimerspec *old) {
  return (int)PASS_ON(SYS_timerfd_settime, fd, flags, time, old);
}
#endif
