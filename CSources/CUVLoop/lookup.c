#include "internal.h"

#include <errno.h>
#include <stdlib.h>

enum { ADDRESSES = 64 };  // further addresses of a host are ignored

struct cuv_lookup {
  uv_getaddrinfo_t request;
  void *context;
  cuv_looked_up done;
  bool finished, destroyed;
};

static int status_from(int status) {
  switch (status) {
    case 0: return 0;
    case UV_EAI_NONAME:
    case UV_EAI_NODATA:
    case UV_EAI_ADDRFAMILY: return CUV_NAME_UNKNOWN;
    case UV_EAI_AGAIN:
    case UV_EAI_MEMORY: return CUV_NAME_TRY_AGAIN;
    default: return CUV_NAME_FAILED;
  }
}

static void on_looked_up(uv_getaddrinfo_t *request, int status, struct addrinfo *list) {
  cuv_lookup *lookup = request->data;
  cuv_endpoint addresses[ADDRESSES];
  size_t count = 0;
  for (struct addrinfo *item = list; item != NULL && count < ADDRESSES; item = item->ai_next) {
    cuv_endpoint_from(item->ai_addr, &addresses[count]);
    if (addresses[count].family != 0) count++;
  }
  if (list != NULL) uv_freeaddrinfo(list);
  lookup->finished = true;
  if (lookup->destroyed) {
    free(lookup);
  } else {
    lookup->done(lookup->context, status_from(status), addresses, count);
  }
}

int cuv_lookup_create(cuv_loop *loop, const char *host, void *context, cuv_looked_up done,
                      cuv_lookup **out) {
  cuv_lookup *lookup = calloc(1, sizeof *lookup);
  if (lookup == NULL) return -ENOMEM;
  lookup->context = context;
  lookup->done = done;
  lookup->request.data = lookup;
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  int status = loop->stopped
                   ? -ECANCELED
                   : uv_getaddrinfo(&loop->uv, &lookup->request, on_looked_up, host, NULL, &hints);
  if (status != 0) {
    free(lookup);
    return status;
  }
  *out = lookup;
  return 0;
}

void cuv_lookup_destroy(cuv_lookup *lookup) {
  if (lookup->finished) {
    free(lookup);
    return;
  }
  lookup->destroyed = true;
  uv_cancel((uv_req_t *)&lookup->request);
}
