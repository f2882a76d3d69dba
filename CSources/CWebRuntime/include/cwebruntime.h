// The memory of a program in a web page: what Embedded Swift calls for memory, without a C library.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Sizes are rounded up to a class: multiples of 16 bytes up to 128, then four sizes for each
// doubling, up to 1 GiB. A block is reused only for its own class, so allocation and release take
// constant time, and at most a fifth of a large block is unused.
enum { cweb_class_count = 8 + 4 * 23 };

typedef struct cweb_heap cweb_heap;

// A heap over memory that only grows.
struct cweb_heap {
  // Fresh memory, which no block has used yet.
  uint8_t *_Nullable next;
  uint8_t *_Nullable end;
  // Where a heap over a region ends. Not used in WebAssembly, whose memory has no fixed end.
  uint8_t *_Nullable limit;
  // Makes at least `bytes` more bytes available at `end`, or returns 0.
  int (*_Nullable extend)(cweb_heap *_Nonnull heap, size_t bytes);
  // The released blocks of each class.
  void *_Nullable released[cweb_class_count];
  // The number of blocks in use.
  size_t count;
};

// Returns memory of at least `size` bytes whose address is a multiple of `alignment`, a power of
// two; NULL if there is not enough memory.
void *_Nullable cweb_allocate(cweb_heap *_Nonnull heap, size_t size, size_t alignment);

// Releases memory that `cweb_allocate` returned for the same heap. NULL is ignored.
void cweb_release(cweb_heap *_Nonnull heap, void *_Nullable memory);

// The halves of a 128-bit integer.
typedef struct {
  uint64_t low, high;
} cweb_int128;

// Returns the low 128 bits of the product of two integers. Compilers expect this of their runtime
// library, since WebAssembly has no instruction for it.
cweb_int128 cweb_multiply(cweb_int128 a, cweb_int128 b);
