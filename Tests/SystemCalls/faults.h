// What the interposed functions share.
#ifndef FAULTS_H
#define FAULTS_H

#include "systemcalls.h"

#define SC_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))

/// The number of faults that the calling thread has armed.
extern _Thread_local __attribute__((tls_model("initial-exec"))) int sc_armed;

/// Returns the fault that this call meets, or NULL. `size` is the size of an allocation, else 0.
const sc_fault *_Nullable sc_meet(sc_call call, int descriptor, int detail, size_t size);
/// Counts a descriptor that the calling thread has opened, and remembers it.
void sc_count_opened(int descriptor);
void sc_count_closed(void);
/// Returns the system's function, or the sanitizer's in front of it.
void *_Nonnull sc_real(const char *_Nonnull name, void *_Nullable interceptor);

/// Returns whether this call must fail; errno is set then.
static inline bool sc_fails(sc_call call, int descriptor, int detail) {
  if (sc_armed == 0) return false;
  const sc_fault *fault = sc_meet(call, descriptor, detail, 0);
  return fault != NULL && fault->error != 0;
}

/// Counts the descriptor that a call has returned, unless the call failed.
static inline int sc_opened(int descriptor) {
  if (descriptor >= 0) sc_count_opened(descriptor);
  return descriptor;
}

/// The function that an interposed function passes its calls to. Under a sanitizer that is the
/// sanitizer's own, which the interposed function has replaced in the executable.
#define SC_REAL(name)                                                    \
  ({                                                                     \
    extern __attribute__((weak)) __typeof__(name) __interceptor_##name;  \
    static void *_Atomic found;                                          \
    void *function = found;                                              \
    if (function == NULL)                                                \
      found = function = sc_real(#name, (void *)&__interceptor_##name);  \
    (__typeof__(&name))function;                                         \
  })

#endif
