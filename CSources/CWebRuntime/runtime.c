// What Embedded Swift and compiled C expect of a C library, for WebAssembly without one.
#include "cwebruntime.h"

// Written with 64-bit products only: a 128-bit one would call `__multi3`, and so this function.
cweb_int128 cweb_multiply(cweb_int128 a, cweb_int128 b) {
  uint64_t a0 = (uint32_t)a.low, a1 = a.low >> 32, b0 = (uint32_t)b.low, b1 = b.low >> 32;
  uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32);
  uint64_t other = a0 * b1 + (uint32_t)middle;
  uint64_t high = a1 * b1 + (middle >> 32) + (other >> 32) + a.high * b.low + a.low * b.high;
  return (cweb_int128){.low = (uint32_t)low | other << 32, .high = high};
}

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

static cweb_int128 halves(unsigned __int128 value) {
  return (cweb_int128){.low = (uint64_t)value, .high = (uint64_t)(value >> 64)};
}

__int128 __multi3(__int128 a, __int128 b) {
  cweb_int128 product = cweb_multiply(halves((unsigned __int128)a), halves((unsigned __int128)b));
  return (__int128)((unsigned __int128)product.high << 64 | product.low);
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
