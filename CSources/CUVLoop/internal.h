// Declarations that the C files share and that Swift does not import.
#ifndef CUV_INTERNAL_H
#define CUV_INTERNAL_H

#include "cuvloop.h"
#include "cuvtls.h"

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
  uint8_t scratch[CUV_SCRATCH];  // the read buffer of all streams; callbacks never nest
};

/// A descriptor that the loop polls; the first member of the struct that owns it.
typedef struct {
  uv_poll_t poll;
  int fd;
  int events;
  bool closed;
} cuv_watch;

/// Takes ownership of `fd`. On failure, closes it; the caller then frees the owner.
int cuv_watch_open(cuv_loop *loop, cuv_watch *watch, int fd);
/// Polls for `events`; 0 stops polling.
int cuv_watch_set(cuv_watch *watch, int events, uv_poll_cb callback);
/// Stops polling and returns the descriptor without closing it. `closed` frees the owner later.
int cuv_watch_detach(cuv_watch *watch, uv_close_cb closed);
/// Stops polling and closes the descriptor. `closed` frees the owner later.
void cuv_watch_close(cuv_watch *watch, uv_close_cb closed);
/// Records that libuv has stopped polling because of a socket error, so that polling can be
/// restarted.
void cuv_watch_stopped(cuv_watch *watch);

typedef union {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} cuv_address;

/// Returns whether a descriptor is one of the last that this process may open. They are left to the
/// rest of the program: libdispatch, which runs Swift's tasks, ends a process in which it cannot
/// open a file, and nobody on the network may bring that about by connecting often enough.
bool cuv_is_reserved(int fd);
/// Creates a socket that is non-blocking and closed on exec. Returns its descriptor or a negative
/// errno; -EMFILE if only reserved descriptors are left.
int cuv_socket(int domain, int type);
/// Sets SO_REUSEPORT. Returns -ENOSYS if the system does not support it.
int cuv_share_port(int fd);
int cuv_set_flag(int fd, int level, int option, int value);
/// Converts an endpoint to the system's form. For an IPv6 socket (`v6`), an IPv4 address is mapped.
socklen_t cuv_address_from(const cuv_endpoint *endpoint, bool v6, cuv_address *out);
/// Converts an address from the system's form. Mapped IPv4 addresses become IPv4 addresses.
void cuv_endpoint_from(const struct sockaddr *address, cuv_endpoint *out);
void cuv_endpoint_from_v6(const struct in6_addr *address, cuv_endpoint *out);
/// Returns the interface's address in 127.0.0.0/8, or 0.0.0.0 if it has none.
struct in_addr cuv_loopback_address(uint32_t interface);
int cuv_local_name(int fd, cuv_endpoint *out);
/// Converts the system's IFF_… flags to CUV_INTERFACE_… flags.
uint32_t cuv_interface_flags(unsigned flags);

/// Prepares OpenSSL once. Returns false if there is no memory for it.
bool cuv_tls_prepare(void);

#endif
