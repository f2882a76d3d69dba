// The UDP socket, shared by udp.c (opening, options, multicast) and udp_batch.c (datagrams).
#ifndef CUV_UDP_H
#define CUV_UDP_H

#include "internal.h"

enum { CUV_UDP_CONTROL = 128 };  // bytes of ancillary data for each datagram

typedef struct {
  uint32_t offset, count, interface;
  socklen_t address_length;
  bool alone;  // never sent as part of a run, since the system rejected a run with it
  cuv_address address;
} cuv_entry;

typedef union {
  struct cmsghdr header;  // for alignment
  uint8_t bytes[CUV_UDP_CONTROL];
} cuv_control;

#if defined(__linux__)
typedef struct mmsghdr cuv_message;
#define CUV_HEADER(m) ((m)->msg_hdr)
#define CUV_LENGTH(m) ((m)->msg_len)
#else
typedef struct {
  struct msghdr header;
  unsigned length;
} cuv_message;
#define CUV_HEADER(m) ((m)->header)
#define CUV_LENGTH(m) ((m)->length)
#endif

struct cuv_udp {
  cuv_watch watch;
  void *context;
  cuv_udp_receive receive;
  bool v4, v6;  // the families that the socket sends; both for a dual-stack socket
  bool packet_info;
  uint16_t port;
  uint32_t slot;
  uint8_t *slots;
  cuv_message in[CUV_UDP_BATCH], out[CUV_UDP_BATCH];
  struct iovec in_parts[CUV_UDP_BATCH], out_parts[CUV_UDP_BATCH];
  cuv_address names[CUV_UDP_BATCH];
  cuv_control in_control[CUV_UDP_BATCH], out_control[CUV_UDP_BATCH];
  cuv_datagram batch[CUV_UDP_BATCH];
  // The send queue: contiguous payload bytes, and entries that refer to them, starting at
  // `entry_head`.
  uint8_t *queue;
  cuv_entry *entries;
  size_t queue_capacity, queue_end, queue_limit;
  size_t entry_capacity, entry_head, entry_end;
  bool blocked;
  bool segments;                 // send runs of datagrams as one message (UDP_SEGMENT)
  uint32_t runs[CUV_UDP_BATCH];  // the number of entries in each message of the batch
  int last_error;
  cuv_udp_counters counters;
};

/// Prepares the receive slots for the first batch.
void cuv_udp_prepare_slots(cuv_udp *udp);
/// Polls for readability, and for writability if sending is blocked.
void cuv_udp_watch(cuv_udp *udp);

#endif
