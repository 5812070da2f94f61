/*
 * Moves the wall clock of the program it is preloaded into (LD_PRELOAD), while the program runs.
 *
 * MOVED_CLOCK_FILE names a file of eight bytes: a signed number of milliseconds, in the byte order
 * of the machine, that is added to the time. It is mapped, not read, so writing to the file moves
 * the clock at once. The monotonic clock stays as it is: timeouts take as long as ever.
 *
 * It also ends the program when the process that started it dies, so that no test leaves a server.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset_ms;

__attribute__((constructor)) static void map_offset(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char *path = getenv("MOVED_CLOCK_FILE");
  int file = path == NULL ? -1 : open(path, O_RDONLY);
  if (file < 0) abort();
  void *page = mmap(NULL, sizeof *offset_ms, PROT_READ, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) abort();
  close(file);
  offset_ms = page;
}

static void move(struct timespec *time) {
  /* Programs may ask for the time before the constructor ran. */
  if (offset_ms == NULL) return;
  int64_t offset = *offset_ms;
  time->tv_sec += offset / 1000;
  time->tv_nsec += offset % 1000 * 1000000;
  if (time->tv_nsec >= 1000000000) {
    time->tv_nsec -= 1000000000;
    time->tv_sec += 1;
  } else if (time->tv_nsec < 0) {
    time->tv_nsec += 1000000000;
    time->tv_sec -= 1;
  }
}

int clock_gettime(clockid_t id, struct timespec *time) {
  /* The system call, because the C library's function is the one replaced here. */
  int result = syscall(SYS_clock_gettime, id, time);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) move(time);
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  int result = clock_gettime(CLOCK_REALTIME, &precise);
  if (result != 0) return result;
  time->tv_sec = precise.tv_sec;
  time->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *seconds) {
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return (time_t)-1;
  if (seconds != NULL) *seconds = precise.tv_sec;
  return precise.tv_sec;
}
