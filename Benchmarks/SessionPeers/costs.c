#include "session_peers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Measures the kernel's time for 100-byte datagrams on loopback.

enum { BATCH = 64, SLOT = 256 };

typedef struct {
  struct mmsghdr messages[BATCH];
  struct iovec parts[BATCH];
  char bytes[BATCH][SLOT];
} batch;

static void prepare(batch *b, size_t length) {
  for (int i = 0; i < BATCH; i++) {
    b->parts[i] = (struct iovec){b->bytes[i], length};
    b->messages[i].msg_hdr = (struct msghdr){.msg_iov = &b->parts[i], .msg_iovlen = 1};
  }
}

static uint64_t thread_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool open_pair(int *from, int *to) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int room = 1 << 20;
  *from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  *to = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  setsockopt(*to, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  return bind(*to, (struct sockaddr *)&address, length) == 0 &&
         getsockname(*to, (struct sockaddr *)&address, &length) == 0 &&
         connect(*from, (struct sockaddr *)&address, length) == 0;
}

static void run_singly(int from, int to, size_t rounds, session_costs *costs) {
  char bytes[SLOT] = {0};
  uint64_t sending = 0, receiving = 0;
  for (size_t round = 0; round < rounds; round++) {
    uint64_t begin = thread_cpu();
    for (int i = 0; i < BATCH; i++) send(from, bytes, SIDE_BURST, 0);
    uint64_t middle = thread_cpu();
    for (int i = 0; i < BATCH; i++) recv(to, bytes, sizeof bytes, MSG_DONTWAIT);
    sending += middle - begin;
    receiving += thread_cpu() - middle;
  }
  costs->send = (double)sending / (double)(rounds * BATCH);
  costs->receive = (double)receiving / (double)(rounds * BATCH);
}

static void run_batched(int from, int to, size_t rounds, session_costs *costs) {
  static batch b;
  uint64_t sending = 0, receiving = 0;
  for (size_t round = 0; round < rounds; round++) {
    prepare(&b, SIDE_BURST);
    uint64_t begin = thread_cpu();
    sendmmsg(from, b.messages, BATCH, 0);
    sending += thread_cpu() - begin;
    prepare(&b, SLOT);
    begin = thread_cpu();
    recvmmsg(to, b.messages, BATCH, MSG_DONTWAIT, NULL);
    receiving += thread_cpu() - begin;
  }
  costs->send_batch = (double)sending / (double)(rounds * BATCH);
  costs->receive_batch = (double)receiving / (double)(rounds * BATCH);
}

static void run_segmented(int from, int to, size_t rounds, session_costs *costs) {
  static char bytes[BATCH * SIDE_BURST];
  static batch b;
  int size = SIDE_BURST;
  uint64_t sending = 0;
  if (setsockopt(from, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof size) != 0) return;
  for (size_t round = 0; round < rounds; round++) {
    uint64_t begin = thread_cpu();
    send(from, bytes, sizeof bytes, 0);
    sending += thread_cpu() - begin;
    prepare(&b, SLOT);
    recvmmsg(to, b.messages, BATCH, MSG_DONTWAIT, NULL);
  }
  costs->send_segments = (double)sending / (double)(rounds * BATCH);
}

session_costs session_measure_costs(size_t count) {
  int from = -1, to = -1;
  session_costs costs = {0};
  if (open_pair(&from, &to)) {
    run_singly(from, to, count / BATCH, &costs);
    run_batched(from, to, count / BATCH, &costs);
    run_segmented(from, to, count / BATCH, &costs);
  }
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  return costs;
}
