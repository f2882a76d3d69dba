/// Counts what a benchmark does to the heap: linked into `bench` alone.
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include <stdint.h>

/// Heap allocations made by this process so far (malloc, calloc, realloc, aligned forms).
uint64_t bench_allocations(void);

/// Those that the calling thread made.
uint64_t bench_thread_allocations(void);

/// From now on the calling thread's heap is measured; what it holds counts as nothing.
void bench_thread_heap_begin(void);

/// Bytes that the calling thread has taken from the heap since then, less those it gave back.
int64_t bench_thread_heap_end(void);

/// User plus system time of the calling thread, nanoseconds.
uint64_t bench_thread_cpu_nanoseconds(void);

/// User plus system time of the whole process, nanoseconds.
uint64_t bench_process_cpu_nanoseconds(void);

/// Lets this process open as many descriptors as the system allows it; how many those are.
uint64_t bench_raise_descriptor_limit(void);

#endif
