#include "enet_peer.h"

int echo_answer(const side_options *options) {
  ENetHost *host = peer_listen(options, 1);
  if (host == NULL) return side_fail("ENet cannot listen on the port");
  for (;;) {
    ENetEvent event;
    if (enet_host_service(host, &event, 1000) < 1) continue;
    if (event.type != ENET_EVENT_TYPE_RECEIVE) continue;
    enet_uint32 flags = event.packet->flags;
    flags &= ENET_PACKET_FLAG_RELIABLE | ENET_PACKET_FLAG_UNSEQUENCED;
    peer_send(event.peer, event.packet->data, event.packet->dataLength, flags);
    enet_host_flush(host);
    enet_packet_destroy(event.packet);
  }
}

/// Waits for the answer without sleeping, so that round trips do not include this side's wake-ups.
static bool receive_answer(ENetHost *host, uint64_t limit) {
  while (side_now() < limit) {
    ENetEvent event;
    if (enet_host_service(host, &event, 0) < 1) continue;
    if (event.type != ENET_EVENT_TYPE_RECEIVE) return false;
    enet_packet_destroy(event.packet);
    return true;
  }
  return false;
}

int echo_ask(const side_options *options) {
  uint8_t bytes[SIDE_ECHO] = {0};
  side_samples times = {0};
  size_t count = (size_t)side_number(options, "count", 2000);
  uint64_t interval = (uint64_t)(side_number(options, "interval", 50e-6) * 1e9);
  bool is_reliable = side_text(options, "mode", "unreliable")[0] == 'r';
  enet_uint32 flag = is_reliable ? ENET_PACKET_FLAG_RELIABLE : ENET_PACKET_FLAG_UNSEQUENCED;
  ENetPeer *peer = peer_join(options);
  if (peer == NULL) return side_fail("ENet cannot connect to the other side");
  uint64_t next = side_now();
  for (size_t i = 0; i < count; i++) {
    ENetEvent event;
    // Pending acknowledgements are sent between the messages.
    while (side_now() < next) enet_host_service(peer->host, &event, 0);
    uint64_t begin = side_now();
    peer_send(peer, bytes, sizeof bytes, flag);
    enet_host_flush(peer->host);
    if (receive_answer(peer->host, begin + 200000000)) side_samples_add(&times, side_now() - begin);
    next = begin + interval;
    if (next < side_now()) next = side_now() + interval / 2;
  }
  side_samples_print(&times, "echo");
  return side_done();
}
