#include "cwebruntime.h"

// Stands before each block. 16 bytes, so that blocks stay aligned for any value.
typedef struct {
  // The distance from the start of the block's memory, where its header is unless it was aligned.
  uint32_t offset;
  uint32_t class;
  uint64_t padding;
} header;

_Static_assert(sizeof(header) == 16, "a header keeps the alignment of 16 bytes");

enum { largest_size = 1u << 30 };

// The class of the smallest blocks that hold `size` bytes, which are at most `largest_size`.
static uint32_t class_of(size_t size) {
  if (size <= 128) return size == 0 ? 0 : (uint32_t)((size - 1) / 16);
  // Sizes above 2^n up to 2^(n+1) are in four steps of 2^(n-2).
  uint32_t n = 31 - (uint32_t)__builtin_clz((uint32_t)(size - 1));
  uint32_t step = (uint32_t)((size - 1) >> (n - 2)) & 3;
  return 8 + 4 * (n - 7) + step;
}

static size_t size_of(uint32_t class) {
  if (class < 8) return 16 * (size_t)(class + 1);
  uint32_t n = 7 + (class - 8) / 4;
  return ((size_t)1 << n) + ((size_t)((class - 8) % 4 + 1) << (n - 2));
}

static uint8_t *take_fresh(cweb_heap *heap, size_t bytes) {
  size_t left = (size_t)(heap->end - heap->next);
  if (left < bytes && !heap->extend(heap, bytes - left)) return NULL;
  uint8_t *memory = heap->next;
  heap->next += bytes;
  return memory;
}

void *cweb_allocate(cweb_heap *heap, size_t size, size_t alignment) {
  if (size > largest_size || alignment > largest_size) return NULL;
  // A header is aligned to 16 bytes; memory for a stricter alignment has room to move it.
  size_t room = size + (alignment > 16 ? alignment : 0);
  if (room > largest_size) return NULL;
  uint32_t class = class_of(room);
  uint8_t *start = heap->released[class];
  if (start) {
    heap->released[class] = *(void **)start;
  } else {
    start = take_fresh(heap, sizeof(header) + size_of(class));
    if (!start) return NULL;
  }
  uintptr_t block = (uintptr_t)start + sizeof(header);
  if (alignment > 16) block = (block + alignment - 1) & ~(uintptr_t)(alignment - 1);
  header *head = (header *)block - 1;
  head->offset = (uint32_t)(block - (uintptr_t)start);
  head->class = class;
  heap->count++;
  return (void *)block;
}

void cweb_release(cweb_heap *heap, void *memory) {
  if (!memory) return;
  header *head = (header *)memory - 1;
  uint32_t class = head->class;
  uint8_t *start = (uint8_t *)memory - head->offset;
  *(void **)start = heap->released[class];
  heap->released[class] = start;
  heap->count--;
}
