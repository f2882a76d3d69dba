/* The controlling terminal of a full-screen program: raw mode, non-blocking reads and writes, and a
   terminal state that is restored however the process ends. There is one terminal per process. All
   functions must be called on one thread, except where noted. */
#ifndef CTERMINAL_H
#define CTERMINAL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint16_t columns, rows;                /* in cells; 0 if unknown */
  uint16_t pixel_width, pixel_height;    /* of the whole window; 0 if unknown */
} cterminal_size;

/* Returns whether standard output is a terminal on which a screen can be drawn. */
bool cterminal_present(void);

/* Returns whether writing up to 4 KiB to `fd` would return at once, even if only with an error. */
bool cterminal_takes(int fd);

/* Enters raw mode and switches to the alternate screen. Returns 0 or a negative errno. */
int cterminal_open(void);

/* Restores the terminal; does nothing if it is not open. Async-signal-safe. */
void cterminal_close(void);

/* Returns the descriptor that is readable when input has arrived, or -1 if no terminal is open. */
int cterminal_descriptor(void);

/* Returns the current size of the window. */
cterminal_size cterminal_window(void);

/* Returns the next byte of input, 0 to 255. Returns -1 if there is none now, or -2 if the terminal
   is gone. */
int cterminal_read(void);

/* Queues a byte for `cterminal_flush`. Bytes beyond 4 MiB are dropped. */
void cterminal_put(uint8_t byte);

/* Writes as many queued bytes as the terminal accepts. Returns the number of bytes that are still
   queued, or a negative errno. */
int cterminal_flush(void);

/* Catches SIGINT, SIGHUP and SIGTERM. The first signal is only recorded. A signal that follows at
   least 0.3 s later restores the terminal and ends the process. */
void cterminal_catch_signals(void);

/* Returns the number of the first caught signal, or 0 if there is none. */
int cterminal_signal(void);

/* Waits for the first caught signal and returns its number. Blocks: call it on its own thread. */
int cterminal_wait_signal(void);

/* Makes writing to a pipe or socket without a reader fail with an error instead of a signal. */
void cterminal_ignore_broken_pipes(void);

/* Returns whether `fd` is a pipe or a socket that has lost its reader. */
bool cterminal_reader_gone(int fd);

/* Waits until the pipe or socket of standard output has lost its reader, and returns true. Returns
   false at once if standard output is neither. Blocks: call it on its own thread. */
bool cterminal_wait_reader_gone(void);

/* Returns the size of the terminal of standard output, whether or not a screen is open on it. */
cterminal_size cterminal_output_size(void);

/* Returns the memory of the program's and its libraries' read-only pages to the system. Pages that
   are needed again are mapped again, from the system's cache of the files. Does nothing on systems
   other than Linux. */
void cterminal_release_code(void);

#endif
