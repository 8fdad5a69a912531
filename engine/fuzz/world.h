/*
 * world.h — the world around the engine while it is fuzzed: clock, random numbers, other processes, cache files.
 *
 * The input decides clock, random numbers and other processes. Cache files are the same at the start of every
 * input. The linker replaces the platform's functions by those of world.c (--wrap), so that an input does the same
 * in each run.
 */
#ifndef LARD_FUZZ_WORLD_H
#define LARD_FUZZ_WORLD_H

#define _GNU_SOURCE
#include "../test/internals.h"

#include <setjmp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Says what was wrong, and aborts: the fuzzer keeps the input. */
#define FAIL(...) world_fail(__FILE__, __LINE__, __VA_ARGS__)
#define EXPECT(condition, ...) ((condition) ? (void)0 : FAIL(#condition ": " __VA_ARGS__))
__attribute__((noreturn, format(printf, 3, 4))) void world_fail(const char *file, int line, const char *format,
                                                                ...);

enum { WORLD_START_MS = 1000000000 };

void world_begin(void);          /* clock and random numbers as at the beginning */
extern int64_t world_now_ms;     /* the wall clock */
extern int64_t world_lag_ms;     /* how far the cheap one is behind it */
extern uint32_t world_stopped;   /* lock word of a process that is alive, but does not go on; 0: none */
extern unsigned long world_kill; /* the process is killed before that many more stores; 0: it is not */
extern sigjmp_buf world_killed;  /* where it goes then */

typedef struct {
    char path[320], lock[328];
    uint64_t bytes;
    unsigned char *pristine; /* what is in the file at the beginning of an input */
    unsigned char identity[64];
    size_t identity_bytes; /* the same of the lock file */
    uint8_t *mirror;       /* the file at the path, mapped without the engine's knowledge */
    uint64_t inode;
} world_file;

/* A new cache of that size, filled by `fill` and closed. */
void world_file_make(world_file *file, const char *name, uint64_t bytes, void (*fill)(larder *cache));
/* As it was made. `careful`: wherever it may have been written to; else the engine is believed as to where it was.
 */
void world_file_restore(world_file *file, bool careful);
larder *world_open(const world_file *file, uint64_t configuration);
/* Bytes at the path or, where others replaced it, elsewhere: the mirror looks at what is there now. */
void world_file_look(world_file *file);

#endif
