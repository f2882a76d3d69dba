// ENet's part of the instruction count of `bench session --check`: a host and its connected peers
// on virtual time, without sockets, with the same messages as in SessionVirtualServer.swift.
//
// libenet calls its socket and clock functions through the dynamic linker, so those that are
// defined here replace its own.
#include <enet/enet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT
#endif

enum { PEERS = 100, WARM_UP = 300, TICKS = 200, INPUT = 60, STATE = 300, CHANNELS = 2 };

// The network: the datagrams of a tick lie one after another in one buffer, and each socket has a
// queue of those that are for it.

enum { SOCKETS = PEERS + 1, QUEUE = 256, BUFFER = 1 << 20 };

typedef struct {
  uint32_t offset, length;
  uint16_t source;
} datagram;

typedef struct {
  datagram datagrams[QUEUE];
  uint32_t head, count;
} queue;

static uint8_t buffer[BUFFER];
static uint32_t buffer_end;
static queue queues[SOCKETS];
static int socket_count;
static uint32_t now;
static bool is_counting;

static void toggle_counting(void) {
  if (is_counting) CALLGRIND_TOGGLE_COLLECT;
}

enet_uint32 enet_time_get(void) { return now; }

// A socket's number is also its port, so that a peer is found without a search.
ENetSocket enet_socket_create(ENetSocketType type) {
  (void)type;
  return socket_count < SOCKETS ? socket_count++ : ENET_SOCKET_NULL;
}

int enet_socket_bind(ENetSocket socket, const ENetAddress *address) {
  (void)socket;
  (void)address;
  return 0;
}

int enet_socket_get_address(ENetSocket socket, ENetAddress *address) {
  *address = (ENetAddress){.host = 1, .port = (enet_uint16)socket};
  return 0;
}

int enet_socket_set_option(ENetSocket socket, ENetSocketOption option, int value) {
  (void)socket;
  (void)option;
  (void)value;
  return 0;
}

int enet_socket_wait(ENetSocket socket, enet_uint32 *condition, enet_uint32 timeout) {
  (void)socket;
  (void)timeout;
  *condition = ENET_SOCKET_WAIT_NONE;
  return 0;
}

void enet_socket_destroy(ENetSocket socket) { (void)socket; }

/// Copies a datagram into the buffer. The copy counts as one of the host's instructions, as it does
/// in Carom's count.
int enet_socket_send(ENetSocket socket, const ENetAddress *to, const ENetBuffer *parts,
                     size_t count) {
  queue *q = &queues[to->port];
  uint32_t start = buffer_end;
  for (size_t i = 0; i < count; i++) {
    if (buffer_end + parts[i].dataLength > BUFFER) return -1;
    memcpy(buffer + buffer_end, parts[i].data, parts[i].dataLength);
    buffer_end += (uint32_t)parts[i].dataLength;
  }
  if (q->count == QUEUE) return -1;
  q->datagrams[(q->head + q->count++) % QUEUE] = (datagram){
      .offset = start, .length = buffer_end - start, .source = (uint16_t)socket};
  return (int)(buffer_end - start);
}

/// Takes the next datagram. This is the kernel's work, which does not count.
int enet_socket_receive(ENetSocket socket, ENetAddress *from, ENetBuffer *parts, size_t count) {
  queue *q = &queues[socket];
  (void)count;
  if (q->count == 0) return 0;
  if (socket == 0) toggle_counting();
  datagram d = q->datagrams[q->head];
  q->head = (q->head + 1) % QUEUE;
  q->count--;
  memcpy(parts[0].data, buffer + d.offset, d.length);
  *from = (ENetAddress){.host = 1, .port = d.source};
  if (socket == 0) toggle_counting();
  return (int)d.length;
}

// The game

static ENetHost *host, *peers[PEERS];
static uint32_t joined, received;

static void service(ENetHost *side) {
  ENetEvent event;
  while (enet_host_service(side, &event, 0) > 0) {
    if (event.type == ENET_EVENT_TYPE_CONNECT && side == host) joined++;
    if (event.type != ENET_EVENT_TYPE_RECEIVE) continue;
    if (side == host) received++;
    enet_packet_destroy(event.packet);
  }
}

static bool send_message(ENetPeer *peer, size_t length) {
  static const uint8_t bytes[STATE];
  ENetPacket *packet = enet_packet_create(bytes, length, ENET_PACKET_FLAG_UNSEQUENCED);
  return packet != NULL && enet_peer_send(peer, 0, packet) == 0;
}

static bool play(uint32_t tick, bool sends) {
  now = 1 + (uint32_t)((uint64_t)tick * 1000 / 60);
  bool is_sent = true;
  for (int i = 0; i < PEERS; i++) {
    if (sends) is_sent = send_message(&peers[i]->peers[0], INPUT) && is_sent;
    service(peers[i]);
    enet_host_flush(peers[i]);
  }
  toggle_counting();
  service(host);
  for (size_t i = 0; sends && i < PEERS; i++)
    is_sent = send_message(&host->peers[i], STATE) && is_sent;
  enet_host_flush(host);
  toggle_counting();
  for (int i = 0; i < PEERS; i++) service(peers[i]);
  bool is_empty = true;
  for (int i = 0; i < SOCKETS; i++) is_empty = is_empty && queues[i].count == 0;
  if (is_empty) buffer_end = 0;
  return is_sent;
}

int main(void) {
  ENetAddress address = {.host = 1, .port = 0};
  host = enet_host_create(&address, PEERS, CHANNELS, 0, 0);
  for (int i = 0; i < PEERS; i++) {
    peers[i] = enet_host_create(NULL, 1, CHANNELS, 0, 0);
    if (peers[i] == NULL || enet_host_connect(peers[i], &address, CHANNELS, 0) == NULL) return 1;
  }
  uint32_t tick = 0;
  while (joined < PEERS && tick < WARM_UP) play(tick++, false);
  bool is_played = joined == PEERS;
  for (int i = 0; i < WARM_UP; i++) is_played = play(tick++, true) && is_played;
  is_counting = true;
  received = 0;
  for (int i = 0; i < TICKS; i++) is_played = play(tick++, true) && is_played;
  is_counting = false;
  if (!is_played || received != PEERS * TICKS) {
    fprintf(stderr, "not every message was sent and received: %u\n", received);
    return 1;
  }
  return 0;
}
