/* Written in C because signal handlers may only call async-signal-safe functions. */
#include "cterminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { WRITE_LIMIT = 4 << 20, READ_CHUNK = 4096 };

/* Enables the alternate screen, SGR mouse motion reports, focus reports and key releases; hides the
   cursor and disables line wrapping. Terminals ignore the sequences that they do not support. */
static const char enter_screen[] =
    "\033[?1049h\033[?25l\033[?7l\033[?1003h\033[?1006h\033[?1004h\033[>15u\033[?u";
/* Enables mouse reports in pixels and queries whether they are supported. Sent only if the size of
   the window in pixels is known. */
static const char enter_pixels[] = "\033[?1016h\033[?1016$p";
/* Restores the modes in reverse order. The keyboard modes are restored before the alternate screen
   is left, because that screen has keyboard modes of its own. */
static const char leave_screen[] =
    "\033[?2026l\033[<u\033[?1004l\033[?1016l\033[?1006l\033[?1003l\033[0m"
    "\033[?7h\033[?25h\033[?1049l";

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGQUIT};
static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
enum { CRASH_COUNT = sizeof crashes / sizeof *crashes, ENDING_COUNT = 3 };

static volatile sig_atomic_t terminal = -1; /* the descriptor */
static volatile sig_atomic_t ended_by;
static volatile double ended_at;
static int notice[2] = {-1, -1}; /* a pipe that signals the first termination request */
static const double INSISTING_AFTER = 0.3; /* seconds */
static struct termios cooked;
static struct sigaction before_crash[CRASH_COUNT];

static uint8_t *output;
static size_t output_count, output_written, output_capacity;
static uint8_t input[READ_CHUNK];
static size_t input_count, input_next;

bool cterminal_present(void) {
  const char *type = getenv("TERM");
  if (!isatty(STDOUT_FILENO) || type == NULL || strcmp(type, "dumb") == 0) return false;
  // A job in the background of a shell must not draw over what the shell shows. The group is -1 if
  // the terminal is not that of this process's session.
  pid_t foreground = tcgetpgrp(STDOUT_FILENO);
  return foreground == -1 || foreground == getpgrp();
}

bool cterminal_takes(int fd) {
  struct pollfd asked = {.fd = fd, .events = POLLOUT};
  return poll(&asked, 1, 0) != 0;
}

static void write_all(int fd, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(fd, bytes, count);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) {
      bytes += written;
      count -= (size_t)written;
    }
  }
}

void cterminal_close(void) {
  int saved = errno;
  int fd = terminal;
  if (fd >= 0) {
    terminal = -1;
    fcntl(fd, F_SETFL, 0); /* make it blocking again, or the last bytes may be lost */
    write_all(fd, leave_screen, sizeof leave_screen - 1);
    tcsetattr(fd, TCSANOW, &cooked);
    close(fd);
  }
  errno = saved;
}

/* Restores the terminal, then raises the signal again for the previous handler. */
static void on_crash(int number) {
  cterminal_close();
  for (int i = 0; i < CRASH_COUNT; i++)
    if (crashes[i] == number) sigaction(number, &before_crash[i], NULL);
  raise(number);
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Records the first signal and ends the process at a later one. A signal that follows immediately
   is a duplicate: timeout(1), for example, signals the process and then its whole group. */
static void on_ending(int number) {
  if (ended_by == 0) {
    int saved = errno;
    ended_by = number;
    ended_at = seconds_now();
    write_all(notice[1], "!", 1);
    errno = saved;
    return;
  }
  if (seconds_now() - ended_at < INSISTING_AFTER) return;
  cterminal_close();
  signal(number, SIG_DFL);
  raise(number);
}

/* Unblocks the signals, which the parent process may have blocked. */
static void unblock(const int *numbers, int count) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (int i = 0; i < count; i++) sigaddset(&wanted, numbers[i]);
  pthread_sigmask(SIG_UNBLOCK, &wanted, NULL);
}

static void catch_crashes(void) {
  struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
  for (int i = 0; i < CRASH_COUNT; i++) sigaction(crashes[i], &action, &before_crash[i]);
  unblock(crashes, CRASH_COUNT);
}

void cterminal_catch_signals(void) {
  if (notice[0] < 0 && pipe(notice) == 0)
    for (int i = 0; i < 2; i++) fcntl(notice[i], F_SETFD, FD_CLOEXEC);
  struct sigaction action = {.sa_handler = on_ending, .sa_flags = SA_RESTART};
  for (int i = 0; i < ENDING_COUNT; i++) sigaction(endings[i], &action, NULL);
  unblock(endings, ENDING_COUNT);
}

int cterminal_signal(void) { return ended_by; }

int cterminal_wait_signal(void) {
  char byte;
  while (ended_by == 0 && (read(notice[0], &byte, 1) >= 0 || errno == EINTR)) continue;
  return ended_by;
}

void cterminal_ignore_broken_pipes(void) { signal(SIGPIPE, SIG_IGN); }

static bool is_pipe_or_socket(int fd) {
  struct stat output;
  return fstat(fd, &output) == 0 && (S_ISFIFO(output.st_mode) || S_ISSOCK(output.st_mode));
}

bool cterminal_reader_gone(int fd) {
  struct pollfd end = {.fd = fd};
  return poll(&end, 1, 0) > 0 && (end.revents & (POLLERR | POLLHUP)) != 0 && is_pipe_or_socket(fd);
}

bool cterminal_wait_reader_gone(void) {
  struct pollfd end = {.fd = STDOUT_FILENO};
  if (!is_pipe_or_socket(STDOUT_FILENO)) return false;
  /* poll() always reports errors and hang-ups. */
  while (poll(&end, 1, -1) < 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

static cterminal_size size_of(int fd) {
  struct winsize size;
  cterminal_size result = {0, 0, 0, 0};
  if (fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0) {
    result.columns = size.ws_col;
    result.rows = size.ws_row;
    result.pixel_width = size.ws_xpixel;
    result.pixel_height = size.ws_ypixel;
  }
  return result;
}

int cterminal_descriptor(void) { return terminal; }

cterminal_size cterminal_window(void) { return size_of(terminal); }

cterminal_size cterminal_output_size(void) { return size_of(STDOUT_FILENO); }

int cterminal_open(void) {
  static bool opened_before;
  if (terminal >= 0) return 0;
  int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -errno;
  if (tcgetattr(fd, &cooked) != 0) {
    int error = errno;
    close(fd);
    return -error;
  }
  struct termios raw = cooked;
  cfmakeraw(&raw);
  raw.c_lflag |= ISIG; /* Ctrl-C works even if the program does not read */
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  terminal = fd;
  if (!opened_before) {
    atexit(cterminal_close);
    catch_crashes();
  }
  opened_before = true;
  output_count = output_written = input_count = input_next = 0;
  tcsetattr(fd, TCSAFLUSH, &raw);
  write_all(fd, enter_screen, sizeof enter_screen - 1);
  cterminal_size size = cterminal_window();
  if (size.pixel_width > 0 && size.pixel_height > 0)
    write_all(fd, enter_pixels, sizeof enter_pixels - 1);
  return 0;
}

int cterminal_read(void) {
  if (input_next == input_count) {
    if (terminal < 0) return -2;
    ssize_t count = read(terminal, input, sizeof input);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return -2;
    input_count = count > 0 ? (size_t)count : 0;
    input_next = 0;
    if (input_count == 0) return -1;
  }
  return input[input_next++];
}

void cterminal_put(uint8_t byte) {
  if (output_count == output_capacity) {
    size_t capacity = output_capacity == 0 ? 1 << 16 : output_capacity * 2;
    uint8_t *larger = capacity > WRITE_LIMIT ? NULL : realloc(output, capacity);
    if (larger == NULL) return;
    output = larger;
    output_capacity = capacity;
  }
  output[output_count++] = byte;
}

int cterminal_flush(void) {
  if (terminal < 0) return -ENOTTY;
  while (output_written < output_count) {
    ssize_t count = write(terminal, output + output_written, output_count - output_written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return (int)(output_count - output_written);
    if (count < 0) return -errno;
    output_written += (size_t)count;
  }
  output_count = output_written = 0;
  return 0;
}
