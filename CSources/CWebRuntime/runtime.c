// What Embedded Swift and compiled C expect of a C library, for WebAssembly without one.
#include "cwebruntime.h"

#ifdef __wasm__

// The end of the program's static data, which the linker defines.
extern uint8_t __heap_base;

static int extend(cweb_heap *heap, size_t bytes) {
  enum { page = 65536 };
  if (__builtin_wasm_memory_grow(0, (bytes + page - 1) / page) == (size_t)-1) return 0;
  heap->end = (uint8_t *)(__builtin_wasm_memory_size(0) * page);
  return 1;
}

static cweb_heap heap = {.extend = extend};

void *aligned_alloc(size_t alignment, size_t size) {
  if (!heap.next) {
    heap.next = (uint8_t *)(((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15);
    heap.end = (uint8_t *)(__builtin_wasm_memory_size(0) * 65536);
  }
  return cweb_allocate(&heap, size, alignment);
}

void *malloc(size_t size) { return aligned_alloc(16, size); }

void free(void *memory) { cweb_release(&heap, memory); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = aligned_alloc(alignment, size);
  return *memory ? 0 : 12;  // ENOMEM
}

// Bulk memory instructions, which the compiler emits for these.
void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  return __builtin_memcpy(to, from, count);
}

void *memmove(void *to, const void *from, size_t count) {
  return __builtin_memmove(to, from, count);
}

void *memset(void *to, int value, size_t count) { return __builtin_memset(to, value, count); }

int memcmp(const void *left, const void *right, size_t count) {
  const uint8_t *a = left, *b = right;
  for (size_t index = 0; index < count; index++) {
    if (a[index] != b[index]) return a[index] < b[index] ? -1 : 1;
  }
  return 0;
}

uintptr_t __stack_chk_guard = 0x5ca1ab1e;

void __stack_chk_fail(void) { __builtin_trap(); }

#ifdef CWEB_FIXED_SEED
// For programs whose output must not depend on anything: tests compare it.
void arc4random_buf(void *buffer, size_t count) { memset(buffer, 0x5a, count); }
#else
// The page fills `count` bytes with random numbers.
__attribute__((import_module("carom"), import_name("random"))) extern void carom_random(
    void *buffer, size_t count);

void arc4random_buf(void *buffer, size_t count) { carom_random(buffer, count); }
#endif

#endif
