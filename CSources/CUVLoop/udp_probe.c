#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"

// A socket that is connected to its peer gets the errors that routers and the peer's system report
// (ICMP, RFC 1122 section 4.1.3.3). One that sends to many peers does not.

int cuv_probe_open(const cuv_endpoint *peer) {
  bool v6 = peer->family == 6;
  cuv_address address;
  socklen_t length = cuv_address_from(peer, v6, &address);
  int fd = cuv_socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM);
  if (fd < 0) return fd;
  if (connect(fd, &address.any, length) == 0) return fd;
  int status = -errno;
  close(fd);
  return status;
}

bool cuv_probe_send(int descriptor) {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
  send(descriptor, "", 0, 0);
  return error == ECONNREFUSED;
}

void cuv_probe_close(int descriptor) { close(descriptor); }
