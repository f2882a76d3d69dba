// What the C files share, and Swift never sees.
#ifndef CUV_INTERNAL_H
#define CUV_INTERNAL_H

#include "cuvloop.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <uv.h>

enum { CUV_SCRATCH = 64 * 1024 };

struct cuv_loop {
  uv_loop_t uv;
  uv_async_t wake;
  uv_prepare_t prepare;
  uv_check_t check;
  void *context;
  cuv_drain drain;
  bool woken, stopped;
  uint8_t scratch[CUV_SCRATCH];  // streams read into it; callbacks never nest
};

/// A descriptor that the loop watches; the first member of what owns it.
typedef struct {
  uv_poll_t poll;
  int fd;
  int events;
  bool closed;
} cuv_watch;

/// Takes over `fd`: on failure it is closed and the caller frees the owner.
int cuv_watch_open(cuv_loop *loop, cuv_watch *watch, int fd);
/// Watches for `events` from now on; 0 watches for nothing.
int cuv_watch_set(cuv_watch *watch, int events, uv_poll_cb callback);
/// Lets go of the descriptor, which stays open, and returns it; `closed` frees the owner later.
int cuv_watch_detach(cuv_watch *watch, uv_close_cb closed);
/// Closes the descriptor; `closed` frees the owner later.
void cuv_watch_close(cuv_watch *watch, uv_close_cb closed);
/// libuv stops a watch that met a socket error: notes that, so that it can be set again.
void cuv_watch_stopped(cuv_watch *watch);

typedef union {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} cuv_address;

/// A socket that neither blocks nor is inherited; negative errno.
int cuv_socket(int domain, int type);
/// Several sockets may share a port; -ENOSYS where the system does not know that.
int cuv_share_port(int fd);
int cuv_set_flag(int fd, int level, int option, int value);
/// The system's form; IPv4 is mapped into IPv6 for a socket of that family (`v6`).
socklen_t cuv_address_from(const cuv_endpoint *endpoint, bool v6, cuv_address *out);
/// Our form; mapped IPv4 addresses come out as IPv4.
void cuv_endpoint_from(const struct sockaddr *address, cuv_endpoint *out);
void cuv_endpoint_from_v6(const struct in6_addr *address, cuv_endpoint *out);
/// 127.0.0.1 where the interface has it, else 0.0.0.0.
struct in_addr cuv_loopback_address(int fd, uint32_t interface);
int cuv_local_name(int fd, cuv_endpoint *out);
/// CUV_INTERFACE_… for the system's IFF_….
uint32_t cuv_interface_flags(unsigned flags);

#endif
