#include "faults.h"

#if defined(__linux__)
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// As `sc_fails`, for calls that may do a part of their work: lowers `count` to the fault's limit.
static inline bool fails_or_limits(sc_call call, int descriptor, size_t *count) {
  if (sc_armed == 0) return false;
  const sc_fault *fault = sc_meet(call, descriptor, SC_ANY, 0);
  if (fault == NULL) return false;
  if (fault->error == 0 && fault->limit < *count) *count = fault->limit;
  return fault->error != 0;
}

// Opening and closing

int socket(int domain, int type, int protocol) {
  if (sc_fails(SC_SOCKET, SC_ANY, domain)) return -1;
  return sc_opened(SC_REAL(socket)(domain, type, protocol));
}

int accept4(int descriptor, __SOCKADDR_ARG address, socklen_t *length, int flags) {
  if (sc_fails(SC_ACCEPT, descriptor, SC_ANY)) return -1;
  return sc_opened(SC_REAL(accept4)(descriptor, address, length, flags));
}

int close(int descriptor) {
  int status = SC_REAL(close)(descriptor);
  if (status == 0) sc_count_closed();
  return status;
}

int bind(int descriptor, __CONST_SOCKADDR_ARG address, socklen_t length) {
  if (sc_fails(SC_BIND, descriptor, SC_ANY)) return -1;
  return SC_REAL(bind)(descriptor, address, length);
}

int listen(int descriptor, int backlog) {
  if (sc_fails(SC_LISTEN, descriptor, SC_ANY)) return -1;
  return SC_REAL(listen)(descriptor, backlog);
}

int connect(int descriptor, __CONST_SOCKADDR_ARG address, socklen_t length) {
  bool fails = sc_fails(SC_CONNECT, descriptor, SC_ANY);
  int error = errno;
  if (fails && error != EINTR) return -1;
  int status = SC_REAL(connect)(descriptor, address, length);
  if (!fails) return status;
  errno = error;  // an interrupted attempt goes on by itself
  return -1;
}

int shutdown(int descriptor, int how) {
  if (sc_fails(SC_SHUTDOWN, descriptor, SC_ANY)) return -1;
  return SC_REAL(shutdown)(descriptor, how);
}

// Names and options

int getsockname(int descriptor, __SOCKADDR_ARG address, socklen_t *length) {
  if (sc_fails(SC_GETSOCKNAME, descriptor, SC_ANY)) return -1;
  return SC_REAL(getsockname)(descriptor, address, length);
}

int getpeername(int descriptor, __SOCKADDR_ARG address, socklen_t *length) {
  if (sc_fails(SC_GETPEERNAME, descriptor, SC_ANY)) return -1;
  return SC_REAL(getpeername)(descriptor, address, length);
}

int setsockopt(int descriptor, int level, int name, const void *value, socklen_t length) {
  if (sc_fails(SC_SETSOCKOPT, descriptor, sc_option(level, name))) return -1;
  return SC_REAL(setsockopt)(descriptor, level, name, value, length);
}

int getsockopt(int descriptor, int level, int name, void *value, socklen_t *length) {
  int detail = sc_option(level, name);
  const sc_fault *fault = sc_armed == 0 ? NULL : sc_meet(SC_GETSOCKOPT, descriptor, detail, 0);
  if (fault == NULL) return SC_REAL(getsockopt)(descriptor, level, name, value, length);
  if (fault->error != 0) return -1;
  int answer = (int)fault->limit;
  memcpy(value, &answer, sizeof answer);
  return 0;
}

// Sending and receiving

int sendmmsg(int descriptor, struct mmsghdr *messages, unsigned wanted, int flags) {
  size_t count = wanted;
  if (fails_or_limits(SC_SENDMMSG, descriptor, &count)) return -1;
  return SC_REAL(sendmmsg)(descriptor, messages, (unsigned)count, flags);
}

int recvmmsg(int descriptor, struct mmsghdr *messages, unsigned wanted, int flags,
             struct timespec *timeout) {
  size_t count = wanted;
  if (fails_or_limits(SC_RECVMMSG, descriptor, &count)) return -1;
  return SC_REAL(recvmmsg)(descriptor, messages, (unsigned)count, flags, timeout);
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
  if (fails_or_limits(SC_SEND, descriptor, &count)) return -1;
  return SC_REAL(send)(descriptor, bytes, count, flags);
}

ssize_t sendto(int descriptor, const void *bytes, size_t count, int flags,
               __CONST_SOCKADDR_ARG address, socklen_t length) {
  if (sc_fails(SC_SENDTO, descriptor, SC_ANY)) return -1;
  return SC_REAL(sendto)(descriptor, bytes, count, flags, address, length);
}

ssize_t recv(int descriptor, void *bytes, size_t count, int flags) {
  const sc_fault *fault = sc_armed == 0 ? NULL : sc_meet(SC_RECV, descriptor, SC_ANY, 0);
  if (fault == NULL) return SC_REAL(recv)(descriptor, bytes, count, flags);
  if (fault->error != 0) return -1;
  if (fault->bytes == NULL && fault->limit < count) count = fault->limit;
  ssize_t received = SC_REAL(recv)(descriptor, bytes, count, flags);
  if (fault->bytes != NULL) memcpy((uint8_t *)bytes + fault->offset, fault->bytes, fault->limit);
  return received;
}

ssize_t read(int descriptor, void *bytes, size_t count) {
  if (fails_or_limits(SC_READ, descriptor, &count)) return -1;
  return SC_REAL(read)(descriptor, bytes, count);
}
#endif
