/// What every side of `bench session` shares, whatever it speaks.
///
/// A side is a process with a role and options, `name=value` each:
///
///     receive  port warm seconds last     takes messages and tells what it got
///     send     address port what          bulk, small, states, mixed: until its input ends
///     answer   port                       sends back what comes
///     ask      address port mode count interval     round trips, one at a time
///     serve    port peers ticks           a game's server: 60 bytes in, 300 out, 60 times a second
///     play     address port peers ticks   its players
///     burst    address port count         100-byte messages as fast as it can
///     flood    port kind rate             what strangers send, until its input ends
///     stand    size                       a server that is flooded with datagrams of that size
///
/// It says `ready`, with its port where it listens, as soon as it listens or is connected; then
/// `figure NAME VALUE` for what it measured, and `done`. It ends when its input does. `core=N`
/// keeps it on one core.
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

/// The value of an option; `otherwise` where it is not given.
double side_number(const side_options *options, const char *name, double otherwise);
const char *side_text(const side_options *options, const char *name, const char *otherwise);

// The process

/// Keeps it on its core, and ends it when its input does.
void side_begin(const side_options *options);
void side_print(const char *word);
/// Says that it listens, and where.
void side_listens(uint16_t port);
void side_figure(const char *name, double value);
/// Says so, and waits for the end of its input.
int side_done(void);
/// Says why it cannot go on; the status to leave with.
int side_fail(const char *what);

/// The clock that all processes of the machine share, nanoseconds.
uint64_t side_now(void);
/// User plus system time of this process, nanoseconds.
uint64_t side_cpu(void);
/// Its memory that is there, bytes.
uint64_t side_memory(void);

// Messages

enum { SIDE_HERTZ = 60, SIDE_INPUT = 60, SIDE_STATE = 300, SIDE_BURST = 100, SIDE_ECHO = 64 };
enum { SIDE_BULK = 16 * 1024, SIDE_SMALL = 60, SIDE_HEADER = 16 };

typedef enum { SIDE_IS_BULK = 1, SIDE_IS_SMALL = 2, SIDE_IS_STATE = 3 } side_kind;

/// Writes SIDE_HEADER bytes: the kind, the number, and the time now.
void side_stamp(uint8_t *bytes, side_kind kind, uint32_t number);

/// What a sender sends.
typedef struct {
  bool bulk;            ///< as much as goes, SIDE_BULK bytes each
  bool small, states;   ///< 60 a second each
  uint64_t next_small, next_state;
  uint32_t smalls, state;
  uint32_t last;        ///< how many small ones; 0: no end
} side_source;

side_source side_source_make(const side_options *options);
/// The kind that is due, stamped into `bytes`, and its length; 0 where none is. Never bulk.
size_t side_source_pop_due(side_source *source, uint8_t *bytes, side_kind *kind);
/// Nanoseconds until the next is due, 5 ms at most.
uint64_t side_source_time_until_next(const side_source *source);

// Samples

typedef struct {
  uint64_t *values;
  size_t count, room;
} side_samples;

void side_samples_add(side_samples *samples, uint64_t value);
/// The smallest that `percent` of them do not exceed; 0 where there is none.
uint64_t side_samples_percentile(side_samples *samples, double percent);
/// NAME_p50, NAME_p90, NAME_p99, NAME_max in microseconds, and NAME_count.
void side_samples_print(side_samples *samples, const char *name);

/// What a receiver makes of what comes.
typedef struct {
  uint64_t warm, window;    ///< before it counts, and while it counts, nanoseconds
  uint32_t last;            ///< the number of small messages to wait for; 0: the window's end
  uint64_t first, latest;   ///< arrivals
  uint64_t payload, counted, states;
  uint32_t smalls;          ///< so many small ones came
  uint32_t disordered;      ///< and so many not as the next in order
  uint64_t small_at, gap;   ///< when the last one came, and the longest silence between two
  side_samples small, ages;
  uint64_t newest, sampled; ///< of states: the stamp, and up to when the age was taken
} side_meter;

side_meter side_meter_make(const side_options *options);
void side_meter_record(side_meter *meter, const uint8_t *bytes, size_t length);
bool side_meter_is_done(const side_meter *meter);
void side_meter_print(side_meter *meter);

#endif
