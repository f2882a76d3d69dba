#include "include/session_sides.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const uint64_t SECOND = 1000000000;

// Options

const char *side_text(const side_options *options, const char *name, const char *fallback) {
  size_t length = strlen(name);
  for (int i = 0; i < options->count; i++) {
    const char *word = options->words[i];
    if (strncmp(word, name, length) == 0 && word[length] == '=') return word + length + 1;
  }
  return fallback;
}

double side_number(const side_options *options, const char *name, double fallback) {
  const char *text = side_text(options, name, NULL);
  return text == NULL ? fallback : atof(text);
}

// The process

static void *watch_input(void *argument) {
  char bytes[64];
  (void)argument;
  while (read(STDIN_FILENO, bytes, sizeof bytes) > 0) continue;
  _exit(0);
}

void side_begin(const side_options *options) {
  int core = (int)side_number(options, "core", -1);
  pthread_t thread;
  setvbuf(stdout, NULL, _IOLBF, 0);
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  if (core >= 0) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
  }
  if (pthread_create(&thread, NULL, watch_input, NULL) == 0) pthread_detach(thread);
}

void side_print(const char *word) {
  puts(word);
  fflush(stdout);
}

void side_listens(uint16_t port) {
  printf("ready %u\n", port);
  fflush(stdout);
}

void side_figure(const char *name, double value) { printf("figure %s %.17g\n", name, value); }

int side_done(void) {
  side_print("done");
  for (;;) pause();
}

int side_fail(const char *what) {
  printf("failed %s\n", what);
  fflush(stdout);
  return 1;
}

static uint64_t read_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

uint64_t side_now(void) { return read_clock(CLOCK_MONOTONIC); }
uint64_t side_cpu(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

uint64_t side_memory(void) {
  unsigned long all = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  int count = fscanf(file, "%lu %lu", &all, &resident);
  fclose(file);
  return count == 2 ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static uint64_t nanoseconds(struct timeval t) {
  return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_usec * 1000;
}

side_cost side_cost_now(void) {
  struct rusage usage = {0};
  getrusage(RUSAGE_SELF, &usage);
  return (side_cost){side_cpu(), nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime)};
}

void side_cost_print(const side_cost *begin, double count) {
  side_cost now = side_cost_now();
  side_figure("cpu", (double)(now.all - begin->all) / count);
  side_figure("user", (double)(now.user - begin->user) / count);
  side_figure("kernel", (double)(now.kernel - begin->kernel) / count);
}

// Messages

void side_stamp(uint8_t *bytes, side_kind kind, uint32_t number) {
  uint64_t time = side_now();
  uint32_t word = (uint32_t)kind;
  memcpy(bytes, &word, 4);
  memcpy(bytes + 4, &number, 4);
  memcpy(bytes + 8, &time, 8);
}

side_source side_source_make(const side_options *options) {
  const char *what = side_text(options, "what", "bulk");
  bool is_mixed = strcmp(what, "mixed") == 0;
  side_source source = {.last = (uint32_t)side_number(options, "last", 0)};
  source.bulk = is_mixed || strcmp(what, "bulk") == 0;
  source.small = is_mixed || strcmp(what, "small") == 0;
  source.states = strcmp(what, "states") == 0;
  source.next_small = source.next_state = side_now();
  return source;
}

/// Returns whether the time `next` has come. If so, sets `next` to a 60th of a second later.
static bool comes_due(uint64_t *next) {
  uint64_t now = side_now();
  if (now < *next) return false;
  *next += SECOND / SIDE_HERTZ;
  if (*next < now) *next = now + SECOND / SIDE_HERTZ;
  return true;
}

size_t side_source_pop_due(side_source *source, uint8_t *bytes, side_kind *kind) {
  bool has_small = source->small && (source->last == 0 || source->smalls < source->last);
  if (has_small && comes_due(&source->next_small)) {
    *kind = SIDE_IS_SMALL;
    side_stamp(bytes, SIDE_IS_SMALL, source->smalls++);
    return SIDE_SMALL;
  }
  if (source->states && comes_due(&source->next_state)) {
    *kind = SIDE_IS_STATE;
    side_stamp(bytes, SIDE_IS_STATE, source->state++);
    return SIDE_STATE;
  }
  return 0;
}

uint64_t side_source_time_until_next(const side_source *source) {
  uint64_t now = side_now(), wait = SECOND / 200;
  if (source->small && source->next_small < now + wait) {
    wait = source->next_small > now ? source->next_small - now : 0;
  }
  if (source->states && source->next_state < now + wait) {
    wait = source->next_state > now ? source->next_state - now : 0;
  }
  return wait;
}

// Samples

void side_samples_add(side_samples *samples, uint64_t value) {
  if (samples->count == samples->room) {
    size_t room = samples->room == 0 ? 1024 : samples->room * 2;
    uint64_t *values = realloc(samples->values, room * sizeof *values);
    if (values == NULL) return;
    samples->values = values;
    samples->room = room;
  }
  samples->values[samples->count++] = value;
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

uint64_t side_samples_percentile(side_samples *samples, double percent) {
  if (samples->count == 0) return 0;
  qsort(samples->values, samples->count, sizeof samples->values[0], compare);
  size_t rank = (size_t)((double)samples->count * percent / 100);
  return samples->values[rank < samples->count ? rank : samples->count - 1];
}

void side_samples_print(side_samples *samples, const char *name) {
  static const struct {
    const char *name;
    double percent;
  } wanted[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}};
  char text[64];
  snprintf(text, sizeof text, "%s_count", name);
  side_figure(text, (double)samples->count);
  if (samples->count == 0) return;
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    snprintf(text, sizeof text, "%s_%s", name, wanted[i].name);
    side_figure(text, (double)side_samples_percentile(samples, wanted[i].percent) / 1e3);
  }
}

// The meter

side_meter side_meter_make(const side_options *options) {
  return (side_meter){
      .warm = (uint64_t)(side_number(options, "warm", 2) * 1e9),
      .window = (uint64_t)(side_number(options, "seconds", 10) * 1e9),
      .last = (uint32_t)side_number(options, "last", 0),
  };
}

/// Samples the age of the newest state at each millisecond since the last sample.
static void sample_ages(side_meter *meter, uint64_t now) {
  for (; meter->sampled <= now; meter->sampled += SECOND / 1000) {
    if (meter->sampled < meter->first + meter->warm) continue;
    side_samples_add(&meter->ages, meter->sampled - meter->newest);
  }
}

static void record_small(side_meter *meter, uint32_t number, uint64_t stamp, uint64_t now) {
  uint64_t silence = now - meter->small_at;
  if (number != meter->smalls++) meter->disordered++;
  if (stamp >= meter->first + meter->warm) {
    side_samples_add(&meter->small, now - stamp);
    if (silence > meter->gap) meter->gap = silence;
  }
  meter->small_at = now;
}

void side_meter_record(side_meter *meter, const uint8_t *bytes, size_t length) {
  uint32_t kind = 0, number = 0;
  uint64_t stamp = 0, now = side_now();
  if (length < SIDE_HEADER) return;
  memcpy(&kind, bytes, 4);
  memcpy(&number, bytes + 4, 4);
  memcpy(&stamp, bytes + 8, 8);
  if (meter->first == 0) meter->first = now;
  meter->latest = now;
  meter->payload += length;
  bool counts = now >= meter->first + meter->warm;
  if (counts && now < meter->first + meter->warm + meter->window) meter->counted += length;
  if (kind == SIDE_IS_SMALL) {
    record_small(meter, number, stamp, now);
  } else if (kind == SIDE_IS_STATE && stamp > meter->newest) {
    if (meter->newest == 0) meter->sampled = now;
    sample_ages(meter, now);
    meter->newest = stamp;
    meter->states++;
  }
}

bool side_meter_is_done(const side_meter *meter) {
  if (meter->first == 0) return false;
  if (meter->last > 0 && meter->smalls >= meter->last) return true;
  uint64_t grace = meter->last > 0 ? 5 * SECOND : 0;
  return side_now() >= meter->first + meter->warm + meter->window + grace;
}

void side_meter_print(side_meter *meter) {
  uint64_t silence = side_now() - meter->small_at;
  // If messages are missing, the silence lasts until now.
  if (meter->smalls < meter->last && silence > meter->gap) meter->gap = silence;
  side_figure("payload", (double)meter->payload);
  side_figure("goodput", (double)meter->counted * 8e3 / (double)meter->window);
  side_figure("smalls", (double)meter->smalls);
  side_figure("disordered", (double)meter->disordered);
  side_figure("gap", (double)meter->gap / 1e3);
  side_figure("states", (double)meter->states);
  side_samples_print(&meter->small, "small");
  side_samples_print(&meter->ages, "age");
}
