#include "session_peers.h"

#include <string.h>

side_options session_options(int count, char *const *words) {
  return (side_options){count, (const char *const *)words};
}

int session_peer(int count, char *const *words) {
  const char *const *rest = (const char *const *)words;
  if (count < 2)
    return side_fail("usage: tcp ROLE, udp ROLE or path FIRST SECOND, then name=value options");
  side_options options = {count - 2, rest + 2};
  if (strcmp(words[0], "tcp") == 0) return session_tcp(words[1], &options);
  if (strcmp(words[0], "udp") == 0) return session_udp(words[1], &options);
  if (strcmp(words[0], "path") != 0 || count < 3)
    return side_fail("unknown side: choose tcp, udp or path");
  options = (side_options){count - 3, rest + 3};
  return session_path(words[1], words[2], &options);
}
