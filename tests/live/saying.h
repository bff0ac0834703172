/* saying.h - what a program for tests/test_gate.c prints: lines with the milliseconds since its start before them. */
#pragma once
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NS_MS = 1000000 };
static struct timespec began;

static long ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (t.tv_sec - began.tv_sec) * 1000 + (t.tv_nsec - began.tv_nsec) / NS_MS;
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
  char line[256];
  int n = snprintf(line, sizeof line, "%ld ", ms());
  va_list args;
  va_start(args, format);
  n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
  va_end(args);
  line[n++] = '\n';
  if (write(STDOUT_FILENO, line, (size_t)n) < 0) exit(9);
}

static struct timespec after(clockid_t clock, long add_ms) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_sec += add_ms / 1000;
  t.tv_nsec += add_ms % 1000 * NS_MS;
  if (t.tv_nsec >= 1000 * NS_MS) t.tv_sec++, t.tv_nsec -= 1000 * NS_MS;
  if (t.tv_nsec < 0) t.tv_sec--, t.tv_nsec += 1000 * NS_MS;
  return t;
}

static void nap(long n_ms) {
  struct timespec t = {n_ms / 1000, n_ms % 1000 * NS_MS};
  while (nanosleep(&t, &t) != 0) continue;
}
