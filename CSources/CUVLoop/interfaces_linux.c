#include "internal.h"

#if defined(__linux__)
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Listing by netlink, since getifaddrs reports neither the number of carrier changes nor which
// addresses are tentative.

typedef struct {
  cuv_interface_entry *out;
  size_t capacity, count;
  cuv_interface_entry spare;  // receives the entries that do not fit
} listing;

typedef void (*visitor)(listing *list, const struct nlmsghdr *message);

static cuv_interface_entry *add(listing *list) {
  bool fits = list->out != NULL && list->count < list->capacity;
  cuv_interface_entry *entry = fits ? &list->out[list->count] : &list->spare;
  list->count++;
  memset(entry, 0, sizeof *entry);
  return entry;
}

/// Copies an attribute's value if it has at most `capacity` bytes.
static void copy(const struct rtattr *attribute, void *out, size_t capacity) {
  size_t length = RTA_PAYLOAD(attribute);
  if (length <= capacity) memcpy(out, RTA_DATA(attribute), length);
}

static void visit_link(listing *list, const struct nlmsghdr *message) {
  const struct ifinfomsg *info = NLMSG_DATA(message);
  if (message->nlmsg_type != RTM_NEWLINK) return;
  cuv_interface_entry *entry = add(list);
  entry->index = (uint32_t)info->ifi_index;
  entry->flags = cuv_interface_flags(info->ifi_flags);
  int left = (int)IFLA_PAYLOAD(message);
  for (struct rtattr *at = IFLA_RTA(info); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
    if (at->rta_type == IFLA_IFNAME) copy(at, entry->name, sizeof entry->name);  // with its NUL
    if (at->rta_type == IFLA_MTU) copy(at, &entry->largest_packet, sizeof entry->largest_packet);
    if (at->rta_type == IFLA_CARRIER_CHANGES)
      copy(at, &entry->carrier_changes, sizeof entry->carrier_changes);
  }
}

/// Adds an address of this host. On a point-to-point link, IFA_LOCAL is this host's address and
/// IFA_ADDRESS is the peer's.
static void visit_address(listing *list, const struct nlmsghdr *message) {
  const struct ifaddrmsg *info = NLMSG_DATA(message);
  bool v6 = info->ifa_family == AF_INET6;
  struct in_addr v4_address = {0};
  struct in6_addr v6_address = {0};
  uint32_t flags = info->ifa_flags;
  bool has_local = false;
  if (message->nlmsg_type != RTM_NEWADDR || (info->ifa_family != AF_INET && !v6)) return;
  int left = (int)IFA_PAYLOAD(message);
  for (struct rtattr *at = IFA_RTA(info); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
    if (at->rta_type == IFA_FLAGS) copy(at, &flags, sizeof flags);
    if (at->rta_type != IFA_LOCAL && (at->rta_type != IFA_ADDRESS || has_local)) continue;
    has_local = at->rta_type == IFA_LOCAL;
    copy(at, v6 ? (void *)&v6_address : &v4_address, v6 ? sizeof v6_address : sizeof v4_address);
  }
  // Nothing can be sent from a tentative or duplicate address (RFC 4862 §5.4).
  bool tentative = (flags & IFA_F_TENTATIVE) && !(flags & IFA_F_OPTIMISTIC);
  if (tentative || (flags & IFA_F_DADFAILED)) return;
  cuv_address address = {0};
  address.any.sa_family = info->ifa_family;
  if (v6) {
    address.v6.sin6_addr = v6_address;
    if (IN6_IS_ADDR_LINKLOCAL(&v6_address)) address.v6.sin6_scope_id = info->ifa_index;
  } else {
    address.v4.sin_addr = v4_address;
  }
  cuv_interface_entry *entry = add(list);
  entry->index = info->ifa_index;
  entry->prefix_length = info->ifa_prefixlen;
  cuv_endpoint_from(&address.any, &entry->address);
}

static int request(int fd, uint16_t type) {
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } message = {
      .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)),
                 .nlmsg_type = type,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
      .body = {.rtgen_family = AF_UNSPEC},
  };
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  ssize_t sent;
  do {
    sent = sendto(fd, &message, message.header.nlmsg_len, 0, (struct sockaddr *)&kernel,
                  sizeof kernel);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : 0;
}

/// Returns whether a message is long enough for the body that its type has.
static bool has_body(const struct nlmsghdr *message) {
  switch (message->nlmsg_type) {
    case RTM_NEWLINK: return message->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifinfomsg));
    case RTM_NEWADDR: return message->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifaddrmsg));
    case NLMSG_ERROR: return message->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr));
    default: return true;
  }
}

/// Reads the answer to a request. Returns -EAGAIN if the table changed meanwhile, and -EBADMSG if a
/// message is incomplete.
static int read_answer(int fd, uint8_t *bytes, size_t capacity, listing *list, visitor visit) {
  bool changed = false;
  while (true) {
    ssize_t count = recv(fd, bytes, capacity, MSG_TRUNC);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -errno;
    if ((size_t)count > capacity) return -ENOBUFS;
    struct nlmsghdr *at = (struct nlmsghdr *)bytes;
    for (; NLMSG_OK(at, count); at = NLMSG_NEXT(at, count)) {
      if (!has_body(at)) return -EBADMSG;
      changed = changed || (at->nlmsg_flags & NLM_F_DUMP_INTR);
      if (at->nlmsg_type == NLMSG_DONE) return changed ? -EAGAIN : 0;
      if (at->nlmsg_type == NLMSG_ERROR)
        return ((const struct nlmsgerr *)NLMSG_DATA(at))->error;
      visit(list, at);
    }
    if (count > 0) return -EBADMSG;
  }
}

/// Lists one table, and reads it again if it changed meanwhile.
static int dump(int fd, uint16_t type, listing *list, visitor visit) {
  enum { CAPACITY = 64 * 1024, TRIES = 8 };  // messages have at most 32 KiB
  uint8_t *bytes = malloc(CAPACITY);
  size_t before = list->count;
  int status = -EAGAIN;
  if (bytes == NULL) return -ENOMEM;
  for (int turn = 0; status == -EAGAIN && turn < TRIES; turn++) {
    list->count = before;
    status = request(fd, type);
    if (status == 0) status = read_answer(fd, bytes, CAPACITY, list, visit);
  }
  free(bytes);
  // A table that changes all the time is listed as it was read; a monitor reports the next change.
  return status == -EAGAIN ? 0 : status;
}

int cuv_interfaces(cuv_interface_entry *out, size_t capacity) {
  listing list = {.out = out, .capacity = capacity};
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return -errno;
  int status = dump(fd, RTM_GETLINK, &list, visit_link);
  if (status == 0) status = dump(fd, RTM_GETADDR, &list, visit_address);
  close(fd);
  return status == 0 ? (int)list.count : status;
}
#endif
