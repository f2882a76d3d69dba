/// Counters of heap use, system calls and processor time for benchmarks. Only `bench` links this
/// library, because it replaces functions of the C library.
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/// Returns the number of heap allocations that this process has made (malloc, calloc, realloc and
/// their aligned forms).
uint64_t bench_allocations(void);

/// Returns the number of heap allocations that the calling thread has made.
uint64_t bench_thread_allocations(void);

/// Starts to measure the bytes that the calling thread holds on the heap, from zero.
void bench_thread_heap_begin(void);

/// Ends the measurement and returns the bytes that the calling thread has allocated since its
/// start, minus the bytes that it has freed.
int64_t bench_thread_heap_end(void);

/// Returns the user and system time of the calling thread, in nanoseconds.
uint64_t bench_thread_cpu_nanoseconds(void);

/// Returns the user and system time of the whole process, in nanoseconds.
uint64_t bench_process_cpu_nanoseconds(void);

/// Returns the number of system calls that the calling thread has made in order to wait, and to
/// read and write sockets and timers; 0 where they cannot be counted.
uint64_t bench_thread_system_calls(void);

/// Begins or ends the counting of instructions, if valgrind's callgrind runs this process;
/// otherwise does nothing.
void bench_toggle_instruction_counting(void);

/// Returns whether this program can tell callgrind which instructions to count. It cannot if
/// valgrind's headers were missing when it was built.
bool bench_can_count_instructions(void);

/// Raises this process's limit of open descriptors to the highest allowed value and returns it, or
/// returns 0 if that fails.
uint64_t bench_raise_descriptor_limit(void);

#endif
