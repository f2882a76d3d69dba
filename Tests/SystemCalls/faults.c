#include "faults.h"

#if defined(__linux__)
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

_Thread_local int sc_armed;

SC_THREAD struct {
  sc_fault fault;
  int calls;  // matching calls so far
} faults[SC_FAULTS];

SC_THREAD long descriptors;
SC_THREAD int last;

int sc_arm(const sc_fault *fault) {
  if (sc_armed == SC_FAULTS) return -1;
  faults[sc_armed].fault = *fault;
  faults[sc_armed].calls = 0;
  return sc_armed++;
}

int sc_hits(int number) {
  const sc_fault *fault = &faults[number].fault;
  int calls = faults[number].calls - fault->skipped;
  return calls < 0 ? 0 : calls < fault->count ? calls : fault->count;
}

void sc_disarm(void) { sc_armed = 0; }

static bool matches(const sc_fault *fault, sc_call call, int descriptor, int detail, size_t size) {
  return fault->call == call && (fault->descriptor == SC_ANY || fault->descriptor == descriptor) &&
         (fault->detail == SC_ANY || fault->detail == detail) &&
         (size == 0 || size >= fault->limit);
}

const sc_fault *sc_meet(sc_call call, int descriptor, int detail, size_t size) {
  for (int number = 0; number < sc_armed; number++) {
    const sc_fault *fault = &faults[number].fault;
    if (!matches(fault, call, descriptor, detail, size)) continue;
    if (faults[number].calls >= fault->skipped + fault->count) continue;
    if (++faults[number].calls <= fault->skipped) return NULL;
    if (fault->error != 0) errno = fault->error;
    return fault;
  }
  return NULL;
}

long sc_descriptors(void) { return descriptors; }
int sc_last_descriptor(void) { return last; }

void sc_count_opened(int descriptor) {
  descriptors++;
  last = descriptor;
}

void sc_count_closed(void) { descriptors--; }

void *sc_real(const char *name, void *interceptor) {
  void *function = interceptor != NULL ? interceptor : dlsym(RTLD_NEXT, name);
  if (function != NULL) return function;
  fprintf(stderr, "the C library has no %s\n", name);
  abort();
}
#endif
