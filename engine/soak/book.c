/*
 * book.c — the words of the soak's ledger as atomics, slots kept by locks of the
 * kernel, and two settings of a process that Ruby has no words for. Built into
 * worker.c and as a library that Ruby loads. Knows nothing of the cache.
 */
#define _GNU_SOURCE
#include "book.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* The book at `path`, made where it is missing; NULL where that failed. The descriptor stays open for claims. */
uint64_t *soak_map(const char *path, int *fd_out) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return NULL;
    }
    if (ftruncate(fd, BOOK_WORDS * sizeof(uint64_t)) != 0) {
        close(fd);
        return NULL;
    }
    void *at = mmap(NULL, BOOK_WORDS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        close(fd);
        return NULL;
    }
    *fd_out = fd;
    return at;
}

uint64_t soak_load(const uint64_t *book, int word) { return __atomic_load_n(&book[word], __ATOMIC_SEQ_CST); }

void soak_store(uint64_t *book, int word, uint64_t value) {
    __atomic_store_n(&book[word], value, __ATOMIC_SEQ_CST);
}

uint64_t soak_add(uint64_t *book, int word, uint64_t value) {
    return __atomic_add_fetch(&book[word], value, __ATOMIC_SEQ_CST);
}

void soak_raise(uint64_t *book, int word, uint64_t value) {
    uint64_t now = soak_load(book, word);
    while (now < value &&
           !__atomic_compare_exchange_n(&book[word], &now, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

/* When this process started: a process number may be given again, the two together are not. */
static uint64_t start_time(void) {
    char text[1024];
    FILE *file = fopen("/proc/self/stat", "r");
    size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) {
        fclose(file);
    }
    text[bytes] = '\0';
    char *at = strrchr(text, ')');
    unsigned long long ticks = 0;
    if (!at || sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                      &ticks) != 1) {
        return 0;
    }
    return ticks;
}

static int lock_slot(int fd, int slot, short type) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = slot;
    lock.l_len = 1;
    return fcntl(fd, F_SETLK, &lock);
}

/*
 * 1 where the slot is now this process', 0 where another has it. The process itself must not have it: its own
 * locks are not in its way. That is asked of the pid, which its threads set under their language's lock.
 */
int soak_claim(uint64_t *book, int fd, int slot) {
    int base = SOAK_FIRST_SLOT + slot * SLOT_WORDS;
    uint64_t started = start_time();
    if (soak_load(book, base + SLOT_PID) == (uint64_t)getpid() &&
        soak_load(book, base + SLOT_STARTED) == started) {
        return 0;
    }
    if (lock_slot(fd, slot, F_WRLCK) != 0) {
        return 0;
    }
    soak_store(book, base + SLOT_RESTS, 0);
    soak_store(book, base + SLOT_BEAT, 0);
    soak_store(book, base + SLOT_STARTED, started);
    soak_store(book, base + SLOT_PID, (uint64_t)getpid());
    return 1;
}

void soak_release(uint64_t *book, int fd, int slot) {
    soak_store(book, SOAK_FIRST_SLOT + slot * SLOT_WORDS + SLOT_PID, 0);
    lock_slot(fd, slot, F_UNLCK);
}

/* The kernel kills this process when its parent ends, however that ends. */
int soak_end_with_parent(void) {
#ifdef __linux__
    return prctl(PR_SET_PDEATHSIG, 9);
#else
    return -1;
#endif
}

/* Descendants whose parent ends become children of this process. */
int soak_adopt_orphans(void) {
#ifdef __linux__
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
#else
    return -1;
#endif
}

/* Gives memory that malloc keeps back to the kernel, so that what is left is what is used. */
void soak_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
