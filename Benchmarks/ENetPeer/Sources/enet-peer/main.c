// ENet as a side of `bench session`: `enet-peer ROLE name=value…`. See session_sides.h.
#include <string.h>

#include "enet_peer.h"

ENetHost *peer_listen(const side_options *options, size_t peers) {
  ENetAddress address = {.host = ENET_HOST_ANY,
                         .port = (enet_uint16)side_number(options, "port", 0)};
  size_t channels = (size_t)side_number(options, "channels", 2);
  ENetHost *host = enet_host_create(&address, peers, channels, 0, 0);
  if (host == NULL || enet_socket_get_address(host->socket, &address) != 0) return NULL;
  side_listens(address.port);
  return host;
}

ENetPeer *peer_connect(ENetHost *host, const side_options *options) {
  ENetAddress address = {.port = (enet_uint16)side_number(options, "port", 0)};
  size_t channels = (size_t)side_number(options, "channels", 2);
  enet_address_set_host_ip(&address, side_text(options, "address", "127.0.0.1"));
  return enet_host_connect(host, &address, channels, 0);
}

ENetPeer *peer_join(const side_options *options) {
  ENetHost *host = enet_host_create(NULL, 1, 8, 0, 0);
  if (host == NULL) return NULL;
  uint64_t begin = side_now();
  ENetPeer *peer = peer_connect(host, options);
  ENetEvent event;
  if (peer == NULL || enet_host_service(host, &event, 10000) < 1) return NULL;
  if (event.type != ENET_EVENT_TYPE_CONNECT) return NULL;
  side_figure("connect", (double)(side_now() - begin) / 1e3);
  side_print("ready");
  return peer;
}

bool peer_send(ENetPeer *peer, const void *bytes, size_t length, enet_uint32 flags) {
  ENetPacket *packet = enet_packet_create(bytes, length, flags);
  if (packet == NULL) return false;
  if (enet_peer_send(peer, 0, packet) == 0) return true;
  enet_packet_destroy(packet);
  return false;
}

int main(int count, char **words) {
  static const struct {
    const char *name;
    int (*play)(const side_options *);
  } roles[] = {{"receive", transfer_receive}, {"send", transfer_send}, {"burst", transfer_burst},
               {"answer", echo_answer},       {"ask", echo_ask},       {"serve", game_serve},
               {"play", game_play}};
  if (count < 2 || enet_initialize() != 0) return side_fail("usage: enet-peer ROLE name=value…");
  side_options options = {count - 2, (const char *const *)words + 2};
  side_begin(&options);
  for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
    if (strcmp(words[1], roles[i].name) == 0) return roles[i].play(&options);
  }
  return side_fail("ENet cannot play this role");
}
