/// The code that all sides of `bench session` share, whatever their protocol.
///
/// A side is a process with a role and options of the form `name=value`:
///
///     receive  port warm seconds last     receives messages and prints their figures
///     send     address port what          sends bulk, small, states or mixed until its input ends
///     answer   port                       echoes every message
///     ask      address port mode count interval     measures round trips, one at a time
///     serve    port peers ticks           a game server: 60 bytes in, 300 out, 60 times a second
///     play     address port peers ticks   the players of a game server
///     burst    address port count         sends 100-byte messages at full speed
///     flood    port kind rate             sends from unvalidated addresses until its input ends
///     stand    size                       a server that is flooded with datagrams of that size
///
/// A side prints `ready` as soon as it listens or is connected, followed by its port if it listens;
/// then `figure NAME VALUE` for each measured value, and `done`. It exits when its standard input
/// ends. `core=N` pins it to a core.
#ifndef SESSION_SIDES_H
#define SESSION_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Options

typedef struct {
  int count;
  const char *const *words;
} side_options;

/// Returns the value of an option, or `fallback` if the option is not given.
double side_number(const side_options *options, const char *name, double fallback);
const char *side_text(const side_options *options, const char *name, const char *fallback);

// The process

/// Pins this process to its core, and makes it exit when its standard input ends.
void side_begin(const side_options *options);
/// Prints a line.
void side_print(const char *word);
/// Prints `ready` and the port on which this side listens.
void side_listens(uint16_t port);
/// Prints a measured value.
void side_figure(const char *name, double value);
/// Prints `done` and waits until standard input ends.
int side_done(void);
/// Prints why this side cannot continue, and returns the exit status.
int side_fail(const char *what);

/// Returns the time of the clock that all processes of the machine share, in nanoseconds.
uint64_t side_now(void);
/// Returns the user and system time of this process, in nanoseconds.
uint64_t side_cpu(void);
/// Returns the resident memory of this process, in bytes.
uint64_t side_memory(void);

/// The processor time that this process has used, in nanoseconds: in all, in its own code, and in
/// the kernel on its behalf. The total is exact; most kernels estimate the other two by sampling at
/// each timer tick.
typedef struct {
  uint64_t all, user, kernel;
} side_cost;

side_cost side_cost_now(void);
/// Prints the figures `cpu`, `user` and `kernel`: the times since `begin`, divided by `count`.
void side_cost_print(const side_cost *begin, double count);

// Messages

enum { SIDE_HERTZ = 60, SIDE_INPUT = 60, SIDE_STATE = 300, SIDE_BURST = 100, SIDE_ECHO = 64 };
enum { SIDE_BULK = 16 * 1024, SIDE_SMALL = 60, SIDE_HEADER = 16 };

typedef enum { SIDE_IS_BULK = 1, SIDE_IS_SMALL = 2, SIDE_IS_STATE = 3 } side_kind;

/// Writes a header of SIDE_HEADER bytes: the kind, the number and the current time.
void side_stamp(uint8_t *bytes, side_kind kind, uint32_t number);

/// A sender's schedule of messages.
typedef struct {
  bool bulk;            ///< messages of SIDE_BULK bytes, at full speed
  bool small, states;   ///< 60 messages of the kind a second
  uint64_t next_small, next_state;
  uint32_t smalls, state;
  uint32_t last;        ///< the number of small messages to send, or 0 for no limit
} side_source;

side_source side_source_make(const side_options *options);
/// Writes the next message that is due to `bytes` and returns its length, or 0 if none is due. Bulk
/// is not scheduled, so it is never returned.
size_t side_source_pop_due(side_source *source, uint8_t *bytes, side_kind *kind);
/// Returns the time until the next message is due, in nanoseconds, at most 5 ms.
uint64_t side_source_time_until_next(const side_source *source);

// Samples

typedef struct {
  uint64_t *values;
  size_t count, room;
} side_samples;

void side_samples_add(side_samples *samples, uint64_t value);
/// Returns the smallest sample that `percent` percent of the samples do not exceed, or 0 if there
/// are no samples.
uint64_t side_samples_percentile(side_samples *samples, double percent);
/// Prints NAME_p50, NAME_p90, NAME_p99 and NAME_max in microseconds, and NAME_count.
void side_samples_print(side_samples *samples, const char *name);

/// A receiver's statistics of the messages that arrived.
typedef struct {
  uint64_t warm, window;    ///< nanoseconds before the measurement, and of the measurement
  uint32_t last;            ///< the number of small messages to wait for, or 0 for the window's end
  uint64_t first, latest;   ///< the times of the first and latest arrivals
  uint64_t payload, counted, states;
  uint32_t smalls;          ///< the number of small messages that arrived
  uint32_t disordered;      ///< the number of small messages out of order
  uint64_t small_at, gap;   ///< the last arrival of a small message, and the longest gap
  side_samples small, ages;
  uint64_t newest, sampled; ///< the newest state's time stamp, and the time of the last sample
} side_meter;

/// Creates the statistics from the options `warm`, `seconds` and `last`.
side_meter side_meter_make(const side_options *options);
/// Records a message that arrived now.
void side_meter_record(side_meter *meter, const uint8_t *bytes, size_t length);
/// Returns whether all messages have arrived, or the measurement's time has ended.
bool side_meter_is_done(const side_meter *meter);
/// Prints the figures.
void side_meter_print(side_meter *meter);

#endif
