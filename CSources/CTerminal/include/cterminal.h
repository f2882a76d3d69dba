/* The controlling terminal of a full-screen program: raw mode, bytes in and out without ever
   blocking, and the promise that it is put back whatever ends the process. One a process; every
   call from one thread. No pointer crosses this interface. */
#ifndef CTERMINAL_H
#define CTERMINAL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint16_t columns, rows;                /* in cells; 0 where unknown */
  uint16_t pixel_width, pixel_height;    /* of the whole window; 0 where unknown */
} cterminal_size;

/* Whether standard output is a terminal that a screen can be drawn on. */
bool cterminal_present(void);

/* Whether a line of up to 4 KiB can be written to `fd` without waiting for whoever reads it; also
   where an error would come at once. */
bool cterminal_takes(int fd);

/* Enters raw mode and draws on the alternate screen. 0, or a negative errno. */
int cterminal_open(void);

/* Puts everything back; harmless when it is not open. Async-signal-safe. */
void cterminal_close(void);

/* The window's size now. */
cterminal_size cterminal_window(void);

/* The next byte typed, 0 to 255; -1 when there is none now; -2 when the terminal is gone. */
int cterminal_read(void);

/* Adds a byte to what `cterminal_flush` writes. Bytes over 4 MiB are dropped. */
void cterminal_put(uint8_t byte);

/* Writes what the terminal takes now. How many bytes are left for later, or a negative errno. */
int cterminal_flush(void);

/* Counts interrupts, hang-ups and requests to terminate from now on instead of dying at the
   first; at one 0.3 s later or more the terminal is put back and the process dies of it. */
void cterminal_catch_signals(void);

/* The first such signal's number; 0 when none came. */
int cterminal_signal(void);

/* Waits for the first such signal, from a thread of its own; its number. */
int cterminal_wait_signal(void);

/* Writing to a pipe or socket that nobody reads is an error from now on, and no signal. */
void cterminal_ignore_broken_pipes(void);

/* Waits until nobody reads the pipe or socket that standard output is, from a thread of its own;
   false at once where it is neither. */
bool cterminal_wait_reader_gone(void);

/* The size of the terminal that standard output is, whether or not a screen is drawn on it. */
cterminal_size cterminal_output_size(void);

#endif
