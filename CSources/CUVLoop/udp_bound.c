#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if defined(__linux__)
enum { INODES = 256, READINGS = 8 };

typedef struct {
  cuv_endpoint *out;
  size_t capacity, count;
  unsigned long inodes[INODES];
  /// The sum of all inode numbers, by which two listings of the same sockets are recognized.
  unsigned long sum;
} listing;

/// A line of the table: a socket's address, port and inode number.
typedef struct {
  cuv_address address;
  unsigned port;
  unsigned long inode;
} row;

/// Returns whether a socket is listed already. A table that changes while it is read may list a
/// socket twice.
static bool is_listed(const listing *list, unsigned long inode) {
  for (size_t index = 0; index < list->count && index < INODES; index++)
    if (list->inodes[index] == inode) return true;
  return false;
}

static void add(listing *list, const row *row) {
  if (is_listed(list, row->inode)) return;
  if (list->count < INODES) list->inodes[list->count] = row->inode;
  if (list->count < list->capacity && list->out != NULL) {
    cuv_endpoint_from(&row->address.any, &list->out[list->count]);
    list->out[list->count].port = (uint16_t)row->port;
  }
  list->count++;
  list->sum += row->inode;
}

/// Parses a line. The table prints each four bytes of an address as one number in host byte order.
static bool parse(const char *line, row *row) {
  uint32_t *words = row->address.v6.sin6_addr.s6_addr32;
  memset(row, 0, sizeof *row);
  row->address.any.sa_family = AF_INET6;
  int end = 0;
  sscanf(line, " %*u: %8x%8x%8x%8x:%4x%n", &words[0], &words[1], &words[2], &words[3], &row->port,
         &end);
  if (end == 0) {
    memset(row, 0, sizeof *row);
    row->address.any.sa_family = AF_INET;
    sscanf(line, " %*u: %8x:%4x%n", &row->address.v4.sin_addr.s_addr, &row->port, &end);
  }
  return end > 0 && sscanf(line + end, " %*s %*s %*s %*s %*s %*s %*s %lu", &row->inode) == 1;
}

static int read_table(const char *path, uint16_t port, listing *list) {
  char line[256];
  FILE *file = fopen(path, "re");
  if (file == NULL) return -errno;
  while (fgets(line, sizeof line, file) != NULL) {
    row row;
    if (parse(line, &row) && row.port == port) add(list, &row);
  }
  int status = ferror(file) ? -EIO : 0;
  fclose(file);
  return status;
}

static int read_tables(uint16_t port, listing *list) {
  // The tables of this thread, since each thread has its own network namespace.
  int status = read_table("/proc/thread-self/net/udp", port, list);
  if (status != 0) return status;
  status = read_table("/proc/thread-self/net/udp6", port, list);
  return status == -ENOENT ? 0 : status;  // a system without IPv6 has no such table
}

int cuv_udp_bound(uint16_t port, cuv_endpoint *out, size_t capacity) {
  // The kernel returns the table in pieces of a page. If a socket is closed between two pieces, the
  // kernel skips another socket. Therefore only two equal readings in a row are trusted.
  listing list = {.out = out, .capacity = capacity};
  int status = read_tables(port, &list);
  for (int reading = 1; status == 0 && reading < READINGS; reading++) {
    listing last = list;
    list = (listing){.out = out, .capacity = capacity};
    status = read_tables(port, &list);
    if (list.count == last.count && list.sum == last.sum) break;
  }
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
