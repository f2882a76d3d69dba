#include "internal.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int bind_loopback(bool tcp, uint16_t *port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = 0};
  socklen_t length = sizeof address;
  int fd = socket(AF_INET, (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || (tcp && listen(fd, 16) != 0) ||
      getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
    close(fd);
    return -1;
  }
  *port = ntohs(address.sin_port);
  return fd;
}

static echo_server servers[4];

static void end(echo_server *server) {
  if (server->stop >= 0) close(server->stop);
  server->runs = false;
}

static void pin(pthread_t thread, int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  pthread_setaffinity_np(thread, sizeof cores, &cores);
}

bool echo_server_start(echo_kind kind, int core) {
  static void *(*const bodies[])(void *) = {echo_uv_udp, echo_epoll_udp, echo_uv_tcp,
                                            echo_epoll_tcp};
  echo_server *server = &servers[kind];
  if (server->runs) return false;
  server->stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  server->socket = bind_loopback(kind == ECHO_UV_TCP || kind == ECHO_EPOLL_TCP, &server->port);
  server->runs = server->stop >= 0 && server->socket >= 0 &&
                 pthread_create(&server->thread, NULL, bodies[kind], server) == 0;
  if (server->runs) {
    pin(server->thread, core);
    return true;
  }
  if (server->socket >= 0) close(server->socket);
  end(server);
  return false;
}

uint16_t echo_server_port(echo_kind kind) { return servers[kind].port; }

static uint64_t read_clock(clockid_t clock) {
  struct timespec t;
  if (clock_gettime(clock, &t) != 0) return 0;
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t echo_server_cpu(echo_kind kind) {
  clockid_t clock;
  if (!servers[kind].runs) return 0;
  return pthread_getcpuclockid(servers[kind].thread, &clock) == 0 ? read_clock(clock) : 0;
}

void echo_server_stop(echo_kind kind) {
  echo_server *server = &servers[kind];
  uint64_t one = 1;
  if (!server->runs) return;
  if (write(server->stop, &one, sizeof one) == sizeof one) pthread_join(server->thread, NULL);
  end(server);
}

uint64_t echo_process_cpu(pid_t pid) {
  clockid_t clock;
  return clock_getcpuclockid(pid, &clock) == 0 ? read_clock(clock) : 0;
}

void echo_pin(pid_t pid, int core) {
  char path[64];
  if (pid == 0) {
    pin(pthread_self(), core);
    return;
  }
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return;
  for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
    if (task->d_name[0] != '.') sched_setaffinity(atoi(task->d_name), sizeof cores, &cores);
  }
  closedir(tasks);
}
