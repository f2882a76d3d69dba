#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if defined(__linux__)
typedef struct {
  cuv_endpoint *out;
  size_t capacity, count;
} listing;

static void add(listing *list, const cuv_address *address, uint16_t port) {
  if (list->count < list->capacity && list->out != NULL) {
    cuv_endpoint_from(&address->any, &list->out[list->count]);
    list->out[list->count].port = port;
  }
  list->count++;
}

/// The table prints each four bytes of an address as one number of this machine's.
static bool parse(const char *line, cuv_address *address, unsigned *port) {
  uint32_t *words = address->v6.sin6_addr.s6_addr32;
  memset(address, 0, sizeof *address);
  if (sscanf(line, " %*u: %8x%8x%8x%8x:%4x", &words[0], &words[1], &words[2], &words[3], port) ==
      5) {
    address->any.sa_family = AF_INET6;
    return true;
  }
  memset(address, 0, sizeof *address);
  address->any.sa_family = AF_INET;
  return sscanf(line, " %*u: %8x:%4x", &address->v4.sin_addr.s_addr, port) == 2;
}

static int read_table(const char *path, uint16_t port, listing *list) {
  char line[256];
  FILE *file = fopen(path, "re");
  if (file == NULL) return -errno;
  while (fgets(line, sizeof line, file) != NULL) {
    cuv_address address;
    unsigned bound;
    if (parse(line, &address, &bound) && bound == port) add(list, &address, port);
  }
  fclose(file);
  return 0;
}

int cuv_udp_bound(uint16_t port, cuv_endpoint *out, size_t capacity) {
  listing list = {.out = out, .capacity = capacity};
  // The thread's, since network namespaces belong to threads. Not every system has IPv6.
  int status = read_table("/proc/thread-self/net/udp", port, &list);
  if (status == 0) read_table("/proc/thread-self/net/udp6", port, &list);
  return status == 0 ? (int)list.count : status;
}
#else
int cuv_udp_bound(uint16_t port, cuv_endpoint *out, size_t capacity) {
  (void)port;
  (void)out;
  (void)capacity;
  return -ENOSYS;
}
#endif
