#include "udp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Opening and closing

static int set_options(int fd, const cuv_udp_options *options) {
  bool v6 = options->local.family == 6;
  int status = 0;
  if (options->reuse_address) status = cuv_set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (status == 0 && options->reuse_port) status = cuv_share_port(fd);
  if (options->receive_buffer > 0)
    cuv_set_flag(fd, SOL_SOCKET, SO_RCVBUF, (int)options->receive_buffer);
  if (options->send_buffer > 0)
    cuv_set_flag(fd, SOL_SOCKET, SO_SNDBUF, (int)options->send_buffer);
#if defined(IP_PMTUDISC_PROBE)
  // Disables fragmentation and ignores the MTU that ICMP reports: the protocol above probes for the
  // path MTU itself (RFC 8899).
  if (options->probes_mtu && v6)
    cuv_set_flag(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
  if (options->probes_mtu && !(v6 && options->v6_only))
    cuv_set_flag(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
#endif
  if (status == 0 && v6) status = cuv_set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY, options->v6_only);
  bool info = options->packet_info;
  if (status == 0 && v6 && info) status = cuv_set_flag(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  if (status == 0 && v6 && info) status = cuv_set_flag(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
  if (status != 0 || (v6 && options->v6_only)) return status;
  // A dual-stack socket needs the IPv4 options for IPv4 datagrams; not all systems support them.
  int v4 = info ? cuv_set_flag(fd, IPPROTO_IP, IP_PKTINFO, 1) : 0;
  if (v4 == 0 && info) v4 = cuv_set_flag(fd, IPPROTO_IP, IP_RECVTTL, 1);
#if defined(IP_MULTICAST_ALL)
  if (v4 == 0) v4 = cuv_set_flag(fd, IPPROTO_IP, IP_MULTICAST_ALL, options->receives_all_groups);
#endif
  return v6 ? 0 : v4;
}

static int open_socket(const cuv_udp_options *options) {
  bool v6 = options->local.family == 6;
  cuv_address address;
  socklen_t length = cuv_address_from(&options->local, v6, &address);
  int fd = cuv_socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM);
  if (fd < 0) return fd;
  int status = set_options(fd, options);
#if defined(IPV6_MULTICAST_ALL)
  if (status == 0 && v6)
    cuv_set_flag(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, options->receives_all_groups);
#endif
  if (status == 0 && bind(fd, &address.any, length) != 0) status = -errno;
  if (status == 0) return fd;
  close(fd);
  return status;
}

static void free_memory(cuv_udp *udp) {
  free(udp->slots);
  free(udp->queue);
  free(udp->entries);
  free(udp);
}

static void free_udp(uv_handle_t *handle) { free_memory(handle->data); }

int cuv_udp_create(cuv_loop *loop, const cuv_udp_options *options, void *context,
                   cuv_udp_receive receive, cuv_udp **out) {
  cuv_udp *udp = calloc(1, sizeof *udp);
  uint8_t *slots = malloc((size_t)options->largest_datagram * CUV_UDP_BATCH);
  if (udp == NULL || slots == NULL) {
    free(udp);
    free(slots);
    return -ENOMEM;
  }
  udp->context = context;
  udp->receive = receive;
  udp->v6 = options->local.family == 6;
  udp->v4 = !udp->v6 || !options->v6_only;
  udp->slot = options->largest_datagram;
  udp->slots = slots;
  udp->queue_limit = options->queue_limit;
  udp->segments = options->segments;
  udp->packet_info = options->packet_info;
  cuv_udp_prepare_slots(udp);
  int fd = open_socket(options);
  int status = fd < 0 ? fd : cuv_watch_open(loop, &udp->watch, fd);
  if (status != 0) {
    free_memory(udp);
    return status;
  }
  udp->watch.poll.data = udp;
  cuv_endpoint local = {0};
  status = cuv_local_name(fd, &local);
  if (status != 0) {
    cuv_udp_destroy(udp);
    return status;
  }
  udp->port = local.port;
  cuv_udp_watch(udp);
  *out = udp;
  return 0;
}

void cuv_udp_destroy(cuv_udp *udp) { cuv_watch_close(&udp->watch, free_udp); }

int cuv_udp_local(const cuv_udp *udp, cuv_endpoint *out) {
  return cuv_local_name(udp->watch.fd, out);
}

// Multicast

int cuv_udp_membership(cuv_udp *udp, const cuv_endpoint *group, uint32_t interface, bool join) {
  struct group_req request = {.gr_interface = interface};
  cuv_address address;
  socklen_t length = cuv_address_from(group, group->family == 6, &address);
  memcpy(&request.gr_group, &address, length);
  int level = group->family == 6 ? IPPROTO_IPV6 : IPPROTO_IP;
  int option = join ? MCAST_JOIN_GROUP : MCAST_LEAVE_GROUP;
  int status = setsockopt(udp->watch.fd, level, option, &request, sizeof request);
  return status == 0 ? 0 : -errno;
}

// A dual-stack socket needs the IPv4 options for IPv4 datagrams; not all systems support them.

static int set_v4_interface(int fd, uint32_t interface) {
  struct ip_mreqn request = {.imr_ifindex = (int)interface};
  request.imr_address = cuv_loopback_address(interface);
  int status = setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
  if (status == 0) return 0;
  return errno == EADDRNOTAVAIL ? -ENODEV : -errno;  // IPv4 reports a missing interface so
}

int cuv_udp_multicast_interface(cuv_udp *udp, uint32_t interface) {
  int fd = udp->watch.fd;
  int v4 = udp->v4 ? set_v4_interface(fd, interface) : 0;
  return udp->v6 ? cuv_set_flag(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)interface) : v4;
}

int cuv_udp_multicast_loop(cuv_udp *udp, bool on) {
  if (udp->v6) return cuv_set_flag(udp->watch.fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, on);
  return cuv_set_flag(udp->watch.fd, IPPROTO_IP, IP_MULTICAST_LOOP, on);
}

int cuv_udp_hop_limit(cuv_udp *udp, bool multicast, int hops) {
  int fd = udp->watch.fd;
  int v4_option = multicast ? IP_MULTICAST_TTL : IP_TTL;
  int v6_option = multicast ? IPV6_MULTICAST_HOPS : IPV6_UNICAST_HOPS;
  int v4 = udp->v4 ? cuv_set_flag(fd, IPPROTO_IP, v4_option, hops) : 0;
  return udp->v6 ? cuv_set_flag(fd, IPPROTO_IPV6, v6_option, hops) : v4;
}
