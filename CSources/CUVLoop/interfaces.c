#include "internal.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#else
#include <ifaddrs.h>
#include <net/route.h>
#endif

// Listing

uint32_t cuv_interface_flags(unsigned flags) {
  uint32_t out = 0;
  if (flags & IFF_UP) out |= CUV_INTERFACE_UP;
  if (flags & IFF_RUNNING) out |= CUV_INTERFACE_RUNNING;
  if (flags & IFF_LOOPBACK) out |= CUV_INTERFACE_LOOPBACK;
  if (flags & IFF_MULTICAST) out |= CUV_INTERFACE_MULTICAST;
  if (flags & IFF_POINTOPOINT) out |= CUV_INTERFACE_POINT_TO_POINT;
  return out;
}

// Without a source address, multicast on loopback would be sent from 0.0.0.0.
struct in_addr cuv_loopback_address(uint32_t interface) {
  struct ifreq request = {0};
  struct sockaddr_in address = {0};
  int fd = cuv_socket(AF_INET, SOCK_DGRAM);  // IPv6 sockets do not provide IPv4 addresses
  if (if_indextoname(interface, request.ifr_name) && ioctl(fd, SIOCGIFADDR, &request) == 0)
    memcpy(&address, &request.ifr_addr, sizeof address);
  if (fd >= 0) close(fd);
  if (ntohl(address.sin_addr.s_addr) >> 24 != 127) address.sin_addr.s_addr = 0;
  return address.sin_addr;
}

#if !defined(__linux__)
static uint8_t prefix_from(const struct sockaddr *mask, int family) {
  uint8_t length = 0;
  if (mask == NULL) return 0;
  const uint8_t *bytes = family == AF_INET
                             ? (const uint8_t *)&((const struct sockaddr_in *)mask)->sin_addr
                             : (const uint8_t *)&((const struct sockaddr_in6 *)mask)->sin6_addr;
  for (int index = 0; index < (family == AF_INET ? 4 : 16); index++)
    length += (uint8_t)__builtin_popcount(bytes[index]);
  return length;
}

int cuv_interfaces(cuv_interface_entry *out, size_t capacity) {
  struct ifaddrs *list = NULL;
  size_t count = 0;
  if (getifaddrs(&list) != 0) return -errno;
  for (struct ifaddrs *item = list; item != NULL; item = item->ifa_next) {
    if (count++ >= capacity || out == NULL) continue;
    cuv_interface_entry *entry = &out[count - 1];
    memset(entry, 0, sizeof *entry);
    strncpy(entry->name, item->ifa_name, sizeof entry->name - 1);
    entry->index = if_nametoindex(item->ifa_name);
    entry->flags = cuv_interface_flags(item->ifa_flags);
    int family = item->ifa_addr == NULL ? AF_UNSPEC : item->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    cuv_endpoint_from(item->ifa_addr, &entry->address);
    entry->prefix_length = prefix_from(item->ifa_netmask, family);
  }
  freeifaddrs(list);
  return (int)count;
}
#endif

// Monitoring

struct cuv_monitor {
  cuv_watch watch;
  void *context;
  cuv_changed changed;
};

static int open_monitor(void) {
#if defined(__linux__)
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return -errno;
  struct sockaddr_nl address = {
      .nl_family = AF_NETLINK,
      .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
  };
  if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int status = -errno;
  close(fd);
  return status;
#else
  return cuv_socket(PF_ROUTE, SOCK_RAW);
#endif
}

/// Returns whether a message reports a change to a link or an address. Messages about wireless
/// scans report no change.
static bool is_change(const uint8_t *bytes, ssize_t count) {
#if defined(__linux__)
  struct nlmsghdr message;
  for (ssize_t at = 0; at + (ssize_t)sizeof message <= count;) {
    memcpy(&message, bytes + at, sizeof message);
    if (message.nlmsg_type >= RTM_NEWLINK && message.nlmsg_type <= RTM_DELADDR) return true;
    if (message.nlmsg_len < sizeof message || message.nlmsg_len > (size_t)(count - at)) break;
    at += (ssize_t)NLMSG_ALIGN(message.nlmsg_len);
  }
  return false;
#else
  (void)bytes;
  return count > 0;
#endif
}

static void on_change(uv_poll_t *poll, int status, int events) {
  enum { MESSAGES = 256 };  // read before other handles are served
  cuv_monitor *monitor = poll->data;
  _Alignas(8) uint8_t bytes[8192];
  bool changed = false;
  (void)events;
  if (status < 0) cuv_watch_stopped(&monitor->watch);
  for (int turn = 0; turn < MESSAGES; turn++) {
    ssize_t count = recv(monitor->watch.fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    // ENOBUFS means that there were so many changes that the kernel dropped some messages.
    changed = changed || (count < 0 ? errno == ENOBUFS : is_change(bytes, count));
  }
  if (changed) monitor->changed(monitor->context);
  if (status < 0) cuv_watch_set(&monitor->watch, UV_READABLE, on_change);
}

int cuv_monitor_create(cuv_loop *loop, void *context, cuv_changed changed, cuv_monitor **out) {
  cuv_monitor *monitor = calloc(1, sizeof *monitor);
  if (monitor == NULL) return -ENOMEM;
  monitor->context = context;
  monitor->changed = changed;
  int fd = open_monitor();
  int status = fd < 0 ? fd : cuv_watch_open(loop, &monitor->watch, fd);
  if (status != 0) {
    free(monitor);
    return status;
  }
  monitor->watch.poll.data = monitor;
  status = cuv_watch_set(&monitor->watch, UV_READABLE, on_change);
  if (status != 0) {
    cuv_monitor_destroy(monitor);
    return status;
  }
  *out = monitor;
  return 0;
}

static void free_monitor(uv_handle_t *handle) { free(handle->data); }

void cuv_monitor_destroy(cuv_monitor *monitor) { cuv_watch_close(&monitor->watch, free_monitor); }
