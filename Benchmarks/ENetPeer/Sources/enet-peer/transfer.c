#include <string.h>

#include "enet_peer.h"

// The most bytes that may wait in ENet's queues: enough to keep its window full, and no more.
static const size_t most_waiting = 1 << 20;
static size_t waiting;

static void packet_ended(ENetPacket *packet) { waiting -= packet->dataLength; }

int transfer_receive(const side_options *options) {
  side_meter meter = side_meter_make(options);
  ENetHost *host = peer_listen(options, 1);
  if (host == NULL) return side_fail("ENet cannot listen on the port");
  while (!side_meter_is_done(&meter)) {
    ENetEvent event;
    if (enet_host_service(host, &event, 5) < 1) continue;
    if (event.type != ENET_EVENT_TYPE_RECEIVE) continue;
    side_meter_record(&meter, event.packet->data, event.packet->dataLength);
    enet_packet_destroy(event.packet);
  }
  side_meter_print(&meter);
  return side_done();
}

static bool queue_bulk(ENetPeer *peer) {
  static uint8_t bytes[SIDE_BULK];
  side_stamp(bytes, SIDE_IS_BULK, 0);
  ENetPacket *packet = enet_packet_create(bytes, SIDE_BULK, ENET_PACKET_FLAG_RELIABLE);
  packet->freeCallback = packet_ended;
  waiting += SIDE_BULK;
  return enet_peer_send(peer, 1, packet) == 0;
}

int transfer_send(const side_options *options) {
  uint8_t bytes[SIDE_STATE] = {0};
  ENetPeer *peer = peer_join(options);
  if (peer == NULL) return side_fail("ENet cannot connect to the other side");
  side_source source = side_source_make(options);
  for (;;) {
    side_kind kind;
    ENetEvent event;
    size_t length = side_source_pop_due(&source, bytes, &kind);
    if (length > 0) {
      // A flag of 0 is unreliable and sequenced: the newest state wins.
      peer_send(peer, bytes, length, kind == SIDE_IS_SMALL ? ENET_PACKET_FLAG_RELIABLE : 0);
      enet_host_flush(peer->host);
    }
    while (source.bulk && waiting < most_waiting) {
      if (!queue_bulk(peer)) return side_fail("ENet rejected a bulk message");
    }
    enet_uint32 wait = (enet_uint32)(side_source_time_until_next(&source) / 1000000);
    if (enet_host_service(peer->host, &event, wait) < 1) continue;
    if (event.type == ENET_EVENT_TYPE_DISCONNECT) return side_fail("the receiver disconnected");
  }
}

int transfer_burst(const side_options *options) {
  enum { GROUP = 64 };
  uint8_t bytes[SIDE_BURST] = {0};
  size_t count = (size_t)side_number(options, "count", 1000000);
  ENetPeer *peer = peer_join(options);
  if (peer == NULL) return side_fail("ENet cannot connect to the other side");
  side_stamp(bytes, SIDE_IS_BULK, 0);
  enet_uint32 before = peer->host->totalSentPackets;
  uint64_t begin = side_now(), cpu = side_cpu();
  for (size_t sent = 0; sent < count; sent += GROUP) {
    ENetEvent event;
    for (int i = 0; i < GROUP; i++) {
      peer_send(peer, bytes, sizeof bytes, ENET_PACKET_FLAG_UNSEQUENCED);
    }
    enet_host_service(peer->host, &event, 0);
  }
  double messages = (double)count;
  side_figure("cpu", (double)(side_cpu() - cpu) / messages);
  side_figure("rate", messages * 1e9 / (double)(side_now() - begin));
  side_figure("coalesced", messages / (double)(peer->host->totalSentPackets - before));
  return side_done();
}
