#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Batches: receive a full set of slots in one call, send up to as many in one call.

enum {
  CONTROL = 128,         // room for packet information and hop limit
  TURNS = 4,             // full batches read before other handles get their turn
  FIRST_QUEUE = 16384,   // bytes
  FIRST_ENTRIES = 64,
};

typedef struct {
  uint32_t offset, count, interface;
  socklen_t address_length;
  cuv_address address;
} entry;

typedef union {
  struct cmsghdr header;  // for alignment
  uint8_t bytes[CONTROL];
} control;

#if defined(__linux__)
typedef struct mmsghdr message;
#define HEADER(m) ((m)->msg_hdr)
#define LENGTH(m) ((m)->msg_len)
#else
typedef struct {
  struct msghdr header;
  unsigned length;
} message;
#define HEADER(m) ((m)->header)
#define LENGTH(m) ((m)->length)
#endif

struct cuv_udp {
  cuv_watch watch;
  void *context;
  cuv_udp_receive receive;
  bool v6;
  uint16_t port;
  uint32_t slot;
  uint8_t *slots;
  message in[CUV_UDP_BATCH], out[CUV_UDP_BATCH];
  struct iovec in_parts[CUV_UDP_BATCH], out_parts[CUV_UDP_BATCH];
  cuv_address names[CUV_UDP_BATCH];
  control in_control[CUV_UDP_BATCH], out_control[CUV_UDP_BATCH];
  cuv_datagram batch[CUV_UDP_BATCH];
  // The queue: bytes in one piece, entries that point into it, both from `head` on.
  uint8_t *queue;
  entry *entries;
  size_t queue_capacity, queue_end, queue_limit;
  size_t entry_capacity, entry_head, entry_end;
  bool blocked;
  int last_error;
  cuv_udp_counters counters;
};

// System calls, batched where the kernel can

static int receive_batch(cuv_udp *udp) {
#if defined(__linux__)
  return recvmmsg(udp->watch.fd, udp->in, CUV_UDP_BATCH, MSG_DONTWAIT, NULL);
#else
  int count = 0;
  for (; count < CUV_UDP_BATCH; count++) {
    ssize_t length = recvmsg(udp->watch.fd, &HEADER(&udp->in[count]), MSG_DONTWAIT);
    if (length < 0) return count > 0 ? count : -1;
    LENGTH(&udp->in[count]) = (unsigned)length;
  }
  return count;
#endif
}

static int send_batch(cuv_udp *udp, unsigned wanted) {
#if defined(__linux__)
  return sendmmsg(udp->watch.fd, udp->out, wanted, MSG_DONTWAIT | MSG_NOSIGNAL);
#else
  for (unsigned count = 0; count < wanted; count++) {
    if (sendmsg(udp->watch.fd, &HEADER(&udp->out[count]), MSG_DONTWAIT) < 0)
      return count > 0 ? (int)count : -1;
  }
  return (int)wanted;
#endif
}

// Receiving

static void reset_slot(cuv_udp *udp, int index) {
  struct msghdr *header = &HEADER(&udp->in[index]);
  header->msg_name = &udp->names[index];
  header->msg_namelen = sizeof udp->names[index];
  header->msg_control = udp->in_control[index].bytes;
  header->msg_controllen = CONTROL;
  header->msg_flags = 0;
}

static void read_control(struct cmsghdr *c, cuv_datagram *out) {
  if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
    struct in_pktinfo info;
    memcpy(&info, CMSG_DATA(c), sizeof info);
    out->interface = (uint32_t)info.ipi_ifindex;
    out->destination.family = 4;
    out->destination.low = ntohl(info.ipi_addr.s_addr);
  } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
    struct in6_pktinfo info;
    memcpy(&info, CMSG_DATA(c), sizeof info);
    out->interface = (uint32_t)info.ipi6_ifindex;
    cuv_endpoint_from_v6(&info.ipi6_addr, &out->destination);
    bool local = info.ipi6_addr.s6_addr[0] == 0xFE && (info.ipi6_addr.s6_addr[1] & 0xC0) == 0x80;
    out->destination.scope = local ? out->interface : 0;
#if defined(__linux__)
  } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL) {
    memcpy(&out->hop_limit, CMSG_DATA(c), sizeof out->hop_limit);
#else
  } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVTTL) {
    out->hop_limit = *(uint8_t *)CMSG_DATA(c);
#endif
  } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_HOPLIMIT) {
    memcpy(&out->hop_limit, CMSG_DATA(c), sizeof out->hop_limit);
  }
}

static void describe(cuv_udp *udp, int index) {
  struct msghdr *header = &HEADER(&udp->in[index]);
  cuv_datagram *out = &udp->batch[index];
  out->bytes = udp->slots + (size_t)index * udp->slot;
  out->count = LENGTH(&udp->in[index]);
  out->truncated = (header->msg_flags & MSG_TRUNC) != 0;
  out->interface = 0;
  out->hop_limit = -1;
  out->destination = (cuv_endpoint){.port = udp->port};
  cuv_endpoint_from(&udp->names[index].any, &out->source);
  for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c != NULL; c = CMSG_NXTHDR(header, c))
    read_control(c, out);
  udp->counters.received++;
  udp->counters.received_bytes += out->count;
  if (out->truncated) udp->counters.truncated++;
}

static bool is_temporary(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

static void receive_all(cuv_udp *udp) {
  for (int turn = 0; turn < TURNS; turn++) {
    int count = receive_batch(udp);
    if (count < 0) {
      // An ICMP error of an earlier send is reported here once; the socket lives on.
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (errno != EINTR) udp->counters.receive_errors++;
      continue;
    }
    for (int index = 0; index < count; index++) describe(udp, index);
    if (count > 0) udp->receive(udp->context, udp->batch, (size_t)count);
    if (udp->watch.closed) return;
    for (int index = 0; index < count; index++) reset_slot(udp, index);
    if (count < CUV_UDP_BATCH) return;
  }
}

static void on_udp(uv_poll_t *poll, int status, int events);

static void watch_udp(cuv_udp *udp) {
  cuv_watch_set(&udp->watch, UV_READABLE | (udp->blocked ? UV_WRITABLE : 0), on_udp);
}

static void on_udp(uv_poll_t *poll, int status, int events) {
  cuv_udp *udp = poll->data;
  if (status < 0) {
    cuv_watch_stopped(&udp->watch);
    events = UV_READABLE | UV_WRITABLE;
  }
  if (udp->blocked && (events & UV_WRITABLE) != 0) {
    udp->blocked = false;
    cuv_udp_flush(udp);
  }
  if ((events & UV_READABLE) != 0) receive_all(udp);
  if (!udp->watch.closed) watch_udp(udp);
}

// Sending

/// Entries whose bytes are not yet sent keep their place; what was sent is moved out when room
/// is needed.
static void compact(cuv_udp *udp) {
  if (udp->entry_head == 0) return;
  size_t left = udp->entry_end - udp->entry_head;
  uint32_t first = left == 0 ? (uint32_t)udp->queue_end : udp->entries[udp->entry_head].offset;
  memmove(udp->queue, udp->queue + first, udp->queue_end - first);
  memmove(udp->entries, udp->entries + udp->entry_head, left * sizeof *udp->entries);
  for (size_t index = 0; index < left; index++) udp->entries[index].offset -= first;
  udp->queue_end -= first;
  udp->entry_head = 0;
  udp->entry_end = left;
}

static bool grow(void **memory, size_t *capacity, size_t first, size_t wanted, size_t unit) {
  if (wanted <= *capacity) return true;
  size_t next = *capacity == 0 ? first : *capacity;
  while (next < wanted) next *= 2;
  void *larger = realloc(*memory, next * unit);
  if (larger == NULL) return false;
  *memory = larger;
  *capacity = next;
  return true;
}

static bool make_room(cuv_udp *udp, size_t count) {
  // An entry counts as well, so that empty datagrams are bounded too.
  size_t entries = udp->entry_end - udp->entry_head;
  if (cuv_udp_queued(udp) + count + entries * sizeof(entry) > udp->queue_limit) return false;
  if (udp->queue_end + count > udp->queue_capacity || udp->entry_end == udp->entry_capacity)
    compact(udp);
  return grow((void **)&udp->queue, &udp->queue_capacity, FIRST_QUEUE, udp->queue_end + count, 1)
      && grow((void **)&udp->entries, &udp->entry_capacity, FIRST_ENTRIES, udp->entry_end + 1,
              sizeof *udp->entries);
}

bool cuv_udp_queue(cuv_udp *udp, const uint8_t *bytes, size_t count,
                   const cuv_endpoint *destination, uint32_t interface) {
  if (udp->watch.closed || !make_room(udp, count)) {
    udp->counters.queue_drops++;
    return false;
  }
  entry *e = &udp->entries[udp->entry_end++];
  e->offset = (uint32_t)udp->queue_end;
  e->count = (uint32_t)count;
  e->interface = interface;
  e->address_length = cuv_address_from(destination, udp->v6, &e->address);
  if (count > 0) memcpy(udp->queue + udp->queue_end, bytes, count);
  udp->queue_end += count;
  return true;
}

static void choose_interface(cuv_udp *udp, struct msghdr *header, control *space, uint32_t index) {
  memset(space, 0, sizeof *space);
  header->msg_control = space->bytes;
  header->msg_controllen = CONTROL;
  struct cmsghdr *c = CMSG_FIRSTHDR(header);
  if (udp->v6) {
    struct in6_pktinfo info = {.ipi6_ifindex = index};
    c->cmsg_level = IPPROTO_IPV6;
    c->cmsg_type = IPV6_PKTINFO;
    c->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(c), &info, sizeof info);
    header->msg_controllen = CMSG_SPACE(sizeof info);
  } else {
    struct in_pktinfo info = {.ipi_ifindex = (int)index};
    c->cmsg_level = IPPROTO_IP;
    c->cmsg_type = IP_PKTINFO;
    c->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(c), &info, sizeof info);
    header->msg_controllen = CMSG_SPACE(sizeof info);
  }
}

static unsigned prepare_batch(cuv_udp *udp) {
  unsigned count = 0;
  for (size_t at = udp->entry_head; at < udp->entry_end && count < CUV_UDP_BATCH; at++, count++) {
    entry *e = &udp->entries[at];
    struct msghdr *header = &HEADER(&udp->out[count]);
    udp->out_parts[count].iov_base = udp->queue + e->offset;
    udp->out_parts[count].iov_len = e->count;
    header->msg_name = &e->address;
    header->msg_namelen = e->address_length;
    header->msg_control = NULL;
    header->msg_controllen = 0;
    if (e->interface != 0) choose_interface(udp, header, &udp->out_control[count], e->interface);
  }
  return count;
}

/// Takes the first entry for sent, or for lost with `error`.
static void advance(cuv_udp *udp, int error) {
  entry *e = &udp->entries[udp->entry_head++];
  if (error == 0) {
    udp->counters.sent++;
    udp->counters.sent_bytes += e->count;
  } else {
    udp->counters.send_errors++;
    udp->last_error = -error;
  }
}

void cuv_udp_flush(cuv_udp *udp) {
  if (udp->watch.closed || udp->blocked) return;
  while (udp->entry_head < udp->entry_end) {
    int sent = send_batch(udp, prepare_batch(udp));
    for (int index = 0; index < sent; index++) advance(udp, 0);
    if (sent >= 0 || errno == EINTR) continue;
    if (is_temporary(errno)) {
      udp->counters.blocked++;
      udp->blocked = true;
      watch_udp(udp);
      return;
    }
    advance(udp, errno);
  }
  udp->entry_head = udp->entry_end = udp->queue_end = 0;
}

size_t cuv_udp_queued(const cuv_udp *udp) {
  if (udp->entry_head == udp->entry_end) return 0;
  return udp->queue_end - udp->entries[udp->entry_head].offset;
}

const cuv_udp_counters *cuv_udp_count(const cuv_udp *udp) { return &udp->counters; }
int cuv_udp_last_error(const cuv_udp *udp) { return udp->last_error; }

// Opening and closing

static int set_options(int fd, const cuv_udp_options *options) {
  bool v6 = options->local.family == 6;
  int status = 0;
  if (options->reuse_address) status = cuv_set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (status == 0 && options->reuse_port) status = cuv_set_flag(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (options->receive_buffer > 0)
    cuv_set_flag(fd, SOL_SOCKET, SO_RCVBUF, (int)options->receive_buffer);
  if (options->send_buffer > 0)
    cuv_set_flag(fd, SOL_SOCKET, SO_SNDBUF, (int)options->send_buffer);
  if (status == 0 && v6) status = cuv_set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY, options->v6_only);
  if (status == 0 && v6) status = cuv_set_flag(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  if (status == 0 && v6) status = cuv_set_flag(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
  if (status != 0 || (v6 && options->v6_only)) return status;
  // A dual-stack socket reports on its IPv4 datagrams by the IPv4 options; not all systems do.
  int v4 = cuv_set_flag(fd, IPPROTO_IP, IP_PKTINFO, 1);
  if (v4 == 0) v4 = cuv_set_flag(fd, IPPROTO_IP, IP_RECVTTL, 1);
#if defined(IP_MULTICAST_ALL)
  if (v4 == 0) v4 = cuv_set_flag(fd, IPPROTO_IP, IP_MULTICAST_ALL, options->hears_all_groups);
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
    cuv_set_flag(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, options->hears_all_groups);
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

static void prepare_slots(cuv_udp *udp) {
  for (int index = 0; index < CUV_UDP_BATCH; index++) {
    udp->in_parts[index].iov_base = udp->slots + (size_t)index * udp->slot;
    udp->in_parts[index].iov_len = udp->slot;
    HEADER(&udp->in[index]).msg_iov = &udp->in_parts[index];
    HEADER(&udp->in[index]).msg_iovlen = 1;
    HEADER(&udp->out[index]).msg_iov = &udp->out_parts[index];
    HEADER(&udp->out[index]).msg_iovlen = 1;
    reset_slot(udp, index);
  }
}

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
  udp->slot = options->largest_datagram;
  udp->slots = slots;
  udp->queue_limit = options->queue_limit;
  prepare_slots(udp);
  int fd = open_socket(options);
  int status = fd < 0 ? fd : cuv_watch_open(loop, &udp->watch, fd);
  if (status != 0) {
    free_memory(udp);
    return status;
  }
  udp->watch.poll.data = udp;
  cuv_endpoint local = {0};
  cuv_local_name(fd, &local);
  udp->port = local.port;
  watch_udp(udp);
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

int cuv_udp_multicast_interface(cuv_udp *udp, uint32_t interface) {
  if (udp->v6)
    return cuv_set_flag(udp->watch.fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)interface);
  struct ip_mreqn request = {.imr_ifindex = (int)interface};
  request.imr_address = cuv_loopback_address(udp->watch.fd, interface);
  int status = setsockopt(udp->watch.fd, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
  return status == 0 ? 0 : -errno;
}

int cuv_udp_multicast_loop(cuv_udp *udp, bool on) {
  if (udp->v6) return cuv_set_flag(udp->watch.fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, on);
  return cuv_set_flag(udp->watch.fd, IPPROTO_IP, IP_MULTICAST_LOOP, on);
}

int cuv_udp_hop_limit(cuv_udp *udp, bool multicast, int hops) {
  if (udp->v6)
    return cuv_set_flag(udp->watch.fd, IPPROTO_IPV6,
                        multicast ? IPV6_MULTICAST_HOPS : IPV6_UNICAST_HOPS, hops);
  return cuv_set_flag(udp->watch.fd, IPPROTO_IP, multicast ? IP_MULTICAST_TTL : IP_TTL, hops);
}
