#include "enet_peer.h"

// A server that receives 60 bytes from each player and sends 300 bytes to each, 60 times a second,
// both unreliable and unsequenced.

typedef struct {
  ENetHost *host;
  uint32_t players;
  uint64_t received, sent;
} game;

static void serve_until(game *t, uint64_t time) {
  for (uint64_t now = side_now(); now < time; now = side_now()) {
    ENetEvent event;
    enet_uint32 wait = (enet_uint32)((time - now) / 1000000);
    int count = enet_host_service(t->host, &event, wait);
    for (; count > 0; count = enet_host_service(t->host, &event, 0)) {
      if (event.type == ENET_EVENT_TYPE_CONNECT) t->players++;
      if (event.type != ENET_EVENT_TYPE_RECEIVE) continue;
      t->received++;
      enet_packet_destroy(event.packet);
    }
    if (wait == 0) return;  // less than a millisecond remains, and ENet waits for whole ones
  }
}

static void send_states(game *t) {
  uint8_t bytes[SIDE_STATE] = {0};
  for (size_t i = 0; i < t->host->peerCount; i++) {
    ENetPeer *peer = &t->host->peers[i];
    if (peer->state != ENET_PEER_STATE_CONNECTED) continue;
    t->sent += peer_send(peer, bytes, sizeof bytes, ENET_PACKET_FLAG_UNSEQUENCED);
  }
  enet_host_flush(t->host);
}

int game_serve(const side_options *options) {
  uint32_t players = (uint32_t)side_number(options, "peers", 100);
  uint64_t ticks = (uint64_t)side_number(options, "ticks", 300);
  uint64_t memory = side_memory();
  game t = {.host = peer_listen(options, players)};
  if (t.host == NULL) return side_fail("ENet cannot listen on the port");
  while (t.players < players) serve_until(&t, side_now() + 10000000);
  side_figure("memory", (double)(side_memory() - memory) / players);
  side_print("full");
  t.received = 0;
  uint64_t datagrams = t.host->totalSentPackets + t.host->totalReceivedPackets;
  side_cost cost = side_cost_now();
  uint64_t begin = side_now();
  for (uint64_t tick = 0; tick < ticks; tick++) {
    serve_until(&t, begin + tick * 1000000000 / SIDE_HERTZ);
    send_states(&t);
  }
  side_cost_print(&cost, (double)(ticks * players));
  datagrams = t.host->totalSentPackets + t.host->totalReceivedPackets - datagrams;
  side_figure("received", (double)t.received);
  side_figure("sent", (double)t.sent);
  side_figure("datagrams", (double)datagrams);
  side_print("done");
  for (;;) serve_until(&t, side_now() + 1000000000);
}

// Players: a hundred on each socket, who send at the same time

enum { GROUP = 100, HOSTS = 41 };

typedef struct {
  ENetHost *hosts[HOSTS];
  uint32_t count, joined;
  uint64_t received, latest;
} crowd;

static void receive_states(crowd *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    ENetEvent event;
    while (enet_host_service(c->hosts[i], &event, 0) > 0) {
      if (event.type == ENET_EVENT_TYPE_CONNECT) c->joined++;
      if (event.type != ENET_EVENT_TYPE_RECEIVE) continue;
      c->received++;
      c->latest = side_now();
      enet_packet_destroy(event.packet);
    }
  }
}

static void send_inputs(ENetHost *host) {
  uint8_t bytes[SIDE_INPUT] = {0};
  for (size_t i = 0; i < host->peerCount; i++) {
    peer_send(&host->peers[i], bytes, sizeof bytes, ENET_PACKET_FLAG_UNSEQUENCED);
  }
  enet_host_flush(host);
}

/// Connects all players, one group of a hundred after another.
static bool join(crowd *c, uint32_t players, const side_options *options) {
  while (c->count * GROUP < players) {
    uint32_t rest = players - c->count * GROUP, size = rest < GROUP ? rest : GROUP;
    ENetHost *host = enet_host_create(NULL, size, 8, 0, 0);
    if (host == NULL) return false;
    c->hosts[c->count++] = host;
    for (uint32_t i = 0; i < size; i++) peer_connect(host, options);
    uint64_t limit = side_now() + 10000000000;
    uint32_t wanted = (c->count - 1) * GROUP + size;
    while (c->joined < wanted && side_now() < limit) receive_states(c);
    if (c->joined < wanted) return false;
  }
  return true;
}

int game_play(const side_options *options) {
  crowd c = {0};
  uint32_t players = (uint32_t)side_number(options, "peers", 100);
  uint64_t ticks = (uint64_t)side_number(options, "ticks", 300);
  if (players > GROUP * HOSTS) return side_fail("at most 4100 players are possible");
  if (!join(&c, players, options)) {
    return side_fail("a player could not join within 10 s: run again with fewer --peers");
  }
  side_print("ready");
  uint64_t begin = side_now();
  // The players stop after the server's last tick.
  for (uint64_t slot = 0; slot < (ticks + SIDE_HERTZ) * c.count; slot++) {
    uint64_t time = begin + slot * 1000000000 / ((uint64_t)SIDE_HERTZ * c.count);
    while (side_now() < time) receive_states(&c);
    send_inputs(c.hosts[slot % c.count]);
  }
  while (side_now() < c.latest + 300000000) receive_states(&c);
  side_figure("arrived", (double)c.received);
  return side_done();
}
