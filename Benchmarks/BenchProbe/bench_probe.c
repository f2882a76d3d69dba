#include "bench_probe.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define HAS_CALLGRIND 1
#else
#define HAS_CALLGRIND 0
#define CALLGRIND_TOGGLE_COLLECT
#endif

static _Atomic uint64_t allocations;
static _Thread_local uint64_t thread_allocations;

uint64_t bench_allocations(void) {
  return atomic_load_explicit(&allocations, memory_order_relaxed);
}

uint64_t bench_thread_allocations(void) { return thread_allocations; }

static _Thread_local bool is_measured;
static _Thread_local int64_t held;

void bench_thread_heap_begin(void) {
  is_measured = true;
  held = 0;
}

int64_t bench_thread_heap_end(void) {
  is_measured = false;
  return held;
}

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec t;
  if (clock_gettime(clock, &t) != 0) return 0;
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t bench_thread_cpu_nanoseconds(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }
uint64_t bench_process_cpu_nanoseconds(void) { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }

void bench_toggle_instruction_counting(void) { CALLGRIND_TOGGLE_COLLECT; }
bool bench_can_count_instructions(void) { return HAS_CALLGRIND; }

uint64_t bench_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return limit.rlim_cur;
}

#if defined(__GLIBC__)
// glibc lets a program replace the allocator's entry points and still call the original functions.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void count(void) {
  atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
  thread_allocations++;
}

static void *count_allocated(void *p) {
  count();
  if (is_measured) held += (int64_t)malloc_usable_size(p);
  return p;
}

static void count_freed(void *p) {
  if (is_measured) held -= (int64_t)malloc_usable_size(p);
}

void *malloc(size_t size) { return count_allocated(__libc_malloc(size)); }
void *calloc(size_t n, size_t size) { return count_allocated(__libc_calloc(n, size)); }
void *realloc(void *p, size_t size) {
  count_freed(p);
  return count_allocated(__libc_realloc(p, size));
}
void *aligned_alloc(size_t alignment, size_t size) {
  return count_allocated(__libc_memalign(alignment, size));
}
int posix_memalign(void **out, size_t alignment, size_t size) {
  void *p = count_allocated(__libc_memalign(alignment, size));
  if (p == NULL) return ENOMEM;
  *out = p;
  return 0;
}
void free(void *p) {
  count_freed(p);
  __libc_free(p);
}
#endif
