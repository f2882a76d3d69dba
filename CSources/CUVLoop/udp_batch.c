#include "udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

// Receiving and sending batches of up to CUV_UDP_BATCH datagrams per system call.

enum {
  TURNS = 4,            // full batches received before other handles are served
  FIRST_QUEUE = 16384,  // bytes
  FIRST_ENTRIES = 64,
  SEGMENTS = 64,           // the kernel's limit
  LARGEST_RUN = 65000,     // bytes; a message has at most 65,507
  LARGEST_SEGMENT = 1472,  // bytes of UDP payload in an Ethernet frame
};

// System calls, batched if the system supports it

static int receive_batch(cuv_udp *udp) {
#if defined(__linux__)
  return recvmmsg(udp->watch.fd, udp->in, CUV_UDP_BATCH, MSG_DONTWAIT, NULL);
#else
  int count = 0;
  for (; count < CUV_UDP_BATCH; count++) {
    ssize_t length = recvmsg(udp->watch.fd, &CUV_HEADER(&udp->in[count]), MSG_DONTWAIT);
    if (length < 0) return count > 0 ? count : -1;
    CUV_LENGTH(&udp->in[count]) = (unsigned)length;
  }
  return count;
#endif
}

static int send_batch(cuv_udp *udp, unsigned wanted) {
#if defined(__linux__)
  return sendmmsg(udp->watch.fd, udp->out, wanted, MSG_DONTWAIT | MSG_NOSIGNAL);
#else
  for (unsigned count = 0; count < wanted; count++) {
    if (sendmsg(udp->watch.fd, &CUV_HEADER(&udp->out[count]), MSG_DONTWAIT) < 0)
      return count > 0 ? (int)count : -1;
  }
  return (int)wanted;
#endif
}

// Receiving

static void reset_slot(cuv_udp *udp, int index) {
  struct msghdr *header = &CUV_HEADER(&udp->in[index]);
  header->msg_name = &udp->names[index];
  header->msg_namelen = sizeof udp->names[index];
  header->msg_control = udp->in_control[index].bytes;
  header->msg_controllen = udp->packet_info ? CUV_UDP_CONTROL : 0;
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
  struct msghdr *header = &CUV_HEADER(&udp->in[index]);
  cuv_datagram *out = &udp->batch[index];
  out->bytes = udp->slots + (size_t)index * udp->slot;
  out->count = CUV_LENGTH(&udp->in[index]);
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

void cuv_udp_prepare_slots(cuv_udp *udp) {
  for (int index = 0; index < CUV_UDP_BATCH; index++) {
    udp->in_parts[index].iov_base = udp->slots + (size_t)index * udp->slot;
    udp->in_parts[index].iov_len = udp->slot;
    CUV_HEADER(&udp->in[index]).msg_iov = &udp->in_parts[index];
    CUV_HEADER(&udp->in[index]).msg_iovlen = 1;
    CUV_HEADER(&udp->out[index]).msg_iov = &udp->out_parts[index];
    CUV_HEADER(&udp->out[index]).msg_iovlen = 1;
    reset_slot(udp, index);
  }
}

static bool is_temporary(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

static void receive_all(cuv_udp *udp) {
  for (int turn = 0; turn < TURNS; turn++) {
    int count = receive_batch(udp);
    if (count < 0) {
      // The ICMP error of an earlier send is reported here once; the socket stays usable.
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

void cuv_udp_watch(cuv_udp *udp) {
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
  if (!udp->watch.closed) cuv_udp_watch(udp);
}

// Sending

/// Moves the unsent entries and their bytes to the start of the queue. Called only when room is
/// needed.
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
  // The entries count toward the limit, so that the number of empty datagrams is bounded too.
  size_t entries = udp->entry_end - udp->entry_head;
  if (cuv_udp_queued(udp) + count + entries * sizeof(cuv_entry) > udp->queue_limit) return false;
  if (udp->queue_end + count > udp->queue_capacity || udp->entry_end == udp->entry_capacity)
    compact(udp);
  return grow((void **)&udp->queue, &udp->queue_capacity, FIRST_QUEUE, udp->queue_end + count, 1)
      && grow((void **)&udp->entries, &udp->entry_capacity, FIRST_ENTRIES, udp->entry_end + 1,
              sizeof *udp->entries);
}

/// Appends an entry of `count` bytes, which the caller copies to its offset. Returns NULL if the
/// queue is full.
static inline cuv_entry *append(cuv_udp *udp, size_t count, const cuv_endpoint *destination,
                                uint32_t interface) {
  if (udp->watch.closed || !make_room(udp, count)) {
    udp->counters.queue_drops++;
    return NULL;
  }
  cuv_entry *e = &udp->entries[udp->entry_end++];
  e->offset = (uint32_t)udp->queue_end;
  e->count = (uint32_t)count;
  e->interface = interface;
  e->alone = false;
  e->address_length = cuv_address_from(destination, udp->v6, &e->address);
  udp->queue_end += count;
  return e;
}

bool cuv_udp_queue(cuv_udp *udp, const uint8_t *bytes, size_t count,
                   const cuv_endpoint *destination, uint32_t interface) {
  const cuv_entry *e = append(udp, count, destination, interface);
  if (e == NULL) return false;
  if (count > 0) memcpy(udp->queue + e->offset, bytes, count);
  return true;
}

bool cuv_udp_queue_parts(cuv_udp *udp, const uint8_t *first, size_t first_count,
                         const uint8_t *second, size_t second_count,
                         const cuv_endpoint *destination, uint32_t interface) {
  const cuv_entry *e = append(udp, first_count + second_count, destination, interface);
  if (e == NULL) return false;
  if (first_count > 0) memcpy(udp->queue + e->offset, first, first_count);
  if (second_count > 0) memcpy(udp->queue + e->offset + first_count, second, second_count);
  return true;
}

/// Sets the interface to send on. Its option is that of the destination's family, also on a
/// dual-stack socket.
static void choose_interface(const cuv_entry *e, struct msghdr *header, cuv_control *space) {
  const cuv_address *to = &e->address;
  bool v6 = to->any.sa_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&to->v6.sin6_addr);
  memset(space, 0, sizeof *space);
  header->msg_control = space->bytes;
  header->msg_controllen = CUV_UDP_CONTROL;
  struct cmsghdr *c = CMSG_FIRSTHDR(header);
  if (v6) {
    struct in6_pktinfo info = {.ipi6_ifindex = e->interface};
    c->cmsg_level = IPPROTO_IPV6;
    c->cmsg_type = IPV6_PKTINFO;
    c->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(c), &info, sizeof info);
    header->msg_controllen = CMSG_SPACE(sizeof info);
  } else {
    struct in_pktinfo info = {.ipi_ifindex = (int)e->interface};
    c->cmsg_level = IPPROTO_IP;
    c->cmsg_type = IP_PKTINFO;
    c->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(c), &info, sizeof info);
    header->msg_controllen = CMSG_SPACE(sizeof info);
  }
}

/// Returns the number of entries from index `at` that can be sent as one message: consecutive
/// entries with the same destination and length, of which the last may be shorter.
static uint32_t run_from(const cuv_udp *udp, size_t at) {
  uint32_t run = 1;
#if defined(UDP_SEGMENT)
  const cuv_entry *first = &udp->entries[at];
  if (!udp->segments || first->alone) return 1;
  if (first->interface != 0 || first->count > LARGEST_SEGMENT) return 1;
  for (; at + run < udp->entry_end && run < SEGMENTS; run++) {
    if ((run + 1) * first->count > LARGEST_RUN) break;
    const cuv_entry *next = &udp->entries[at + run];
    if (next[-1].count != first->count || next->count == 0 || next->count > first->count ||
        next->interface != 0 || next->address_length != first->address_length ||
        memcmp(&next->address, &first->address, first->address_length) != 0)
      break;
  }
#else
  (void)udp;
  (void)at;
#endif
  return run;
}

static void set_segment(struct msghdr *header, cuv_control *space, uint32_t bytes) {
#if defined(UDP_SEGMENT)
  uint16_t size = (uint16_t)bytes;
  header->msg_control = space->bytes;
  header->msg_controllen = CMSG_SPACE(sizeof size);
  struct cmsghdr *c = CMSG_FIRSTHDR(header);
  c->cmsg_level = SOL_UDP;
  c->cmsg_type = UDP_SEGMENT;
  c->cmsg_len = CMSG_LEN(sizeof size);
  memcpy(CMSG_DATA(c), &size, sizeof size);
#else
  (void)header;
  (void)space;
  (void)bytes;
#endif
}

static unsigned prepare_batch(cuv_udp *udp) {
  unsigned count = 0;
  for (size_t at = udp->entry_head; at < udp->entry_end && count < CUV_UDP_BATCH; count++) {
    cuv_entry *e = &udp->entries[at];
    struct msghdr *header = &CUV_HEADER(&udp->out[count]);
    uint32_t run = run_from(udp, at);
    const cuv_entry *last = &udp->entries[at + run - 1];
    udp->runs[count] = run;
    at += run;
    udp->out_parts[count].iov_base = udp->queue + e->offset;
    udp->out_parts[count].iov_len = last->offset + last->count - e->offset;
    header->msg_name = &e->address;
    header->msg_namelen = e->address_length;
    header->msg_control = NULL;
    header->msg_controllen = 0;
    if (e->interface != 0) choose_interface(e, header, &udp->out_control[count]);
    if (run > 1) set_segment(header, &udp->out_control[count], e->count);
  }
  return count;
}

/// Removes the first entry and counts it as sent, or as failed if `error` is not 0.
static void advance(cuv_udp *udp, int error) {
  cuv_entry *e = &udp->entries[udp->entry_head++];
  if (error == 0) {
    udp->counters.sent++;
    udp->counters.sent_bytes += e->count;
  } else {
    udp->counters.send_errors++;
    udp->last_error = -error;
  }
}

/// Splits the first run, which the system has rejected, into single datagrams. Segmentation stays
/// on unless the error means that the route does not support it.
static void split_run(cuv_udp *udp, int error) {
  if (error == EINVAL || error == EIO || error == EOPNOTSUPP) udp->segments = false;
  for (uint32_t index = 0; index < udp->runs[0]; index++)
    udp->entries[udp->entry_head + index].alone = true;
}

void cuv_udp_flush(cuv_udp *udp) {
  if (udp->watch.closed || udp->blocked) return;
  while (udp->entry_head < udp->entry_end) {
    int sent = send_batch(udp, prepare_batch(udp));
    for (int index = 0; index < sent; index++) {
      for (uint32_t left = udp->runs[index]; left > 0; left--) advance(udp, 0);
    }
    if (sent >= 0 || errno == EINTR) continue;
    if (is_temporary(errno)) {
      udp->counters.blocked++;
      udp->blocked = true;
      cuv_udp_watch(udp);
      return;
    }
    if (udp->runs[0] > 1) {
      split_run(udp, errno);
    } else {
      advance(udp, errno);
    }
  }
  udp->entry_head = udp->entry_end = udp->queue_end = 0;
}

size_t cuv_udp_queued(const cuv_udp *udp) {
  if (udp->entry_head == udp->entry_end) return 0;
  return udp->queue_end - udp->entries[udp->entry_head].offset;
}

const cuv_udp_counters *cuv_udp_count(const cuv_udp *udp) { return &udp->counters; }
int cuv_udp_last_error(const cuv_udp *udp) { return udp->last_error; }
