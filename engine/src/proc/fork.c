/*
 * fork.c — which process this is, and the lock that no fork may interrupt.
 *
 * A page that the kernel empties in every child, whatever made it (MADV_WIPEONFORK,
 * Linux 4.14), holds the number of this process: a child finds 0 there and numbers
 * itself at its first call. Where the system has no such page, pthread_atfork does it,
 * which a raw clone(2) does not call.
 *
 * The registry lock is on that page too, so that a child never inherits it locked. It
 * is held for moments: over the list of handles, the fields of a handle that attaches, and
 * while a descriptor is open that holds a lock (bytelock.c). Fork handlers hold it across fork.
 */
#define _GNU_SOURCE
#include "proc/fork.h"
#include "base/crc.h"

#include <pthread.h>
#include <sys/mman.h>

typedef struct {
    unsigned epoch;
    pthread_mutex_t registry; /* as mutexes are when all their bytes are 0: unlocked */
} fork_page;

static fork_page ordinary = {0, PTHREAD_MUTEX_INITIALIZER};
static fork_page *page = &ordinary;
static unsigned epochs; /* copied into children: theirs are greater than their parents' */
static bool forks_watched;
static pthread_once_t once = PTHREAD_ONCE_INIT;

unsigned *lard_fork_word = &ordinary.epoch;

static void before_fork(void) { pthread_mutex_lock(&page->registry); }
static void in_parent(void) { pthread_mutex_unlock(&page->registry); }
static void in_child(void) {
    pthread_mutex_init(&page->registry, NULL); /* whose owner, the parent's thread, is not here */
    page->epoch = ++epochs;
}

static void *make_wiped_page(void) {
#ifdef MADV_WIPEONFORK
    static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    size_t bytes = lard_page_bytes();
    void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) {
        return NULL;
    }
    if (madvise(fresh, bytes, MADV_WIPEONFORK) == 0 && __builtin_memcmp(fresh, &unlocked, sizeof unlocked) == 0) {
        return fresh;
    }
    munmap(fresh, bytes);
#endif
    return NULL;
}

static void install(void) {
    lard_crc_init();
    fork_page *wiped = make_wiped_page();
    page = wiped ? wiped : page;
    page->epoch = ++epochs;
    lard_fork_word = &page->epoch;
    forks_watched = pthread_atfork(before_fork, in_parent, in_child) == 0;
}

void lard_fork_lock(void) {
    pthread_once(&once, install);
    pthread_mutex_lock(&page->registry);
    if (page->epoch == 0) {
        page->epoch = ++epochs;
    }
}

void lard_fork_unlock(void) { pthread_mutex_unlock(&page->registry); }

/* Without this a child could inherit a descriptor in the moment in which it holds a lock. */
bool lard_fork_watch(void) {
    forks_watched = forks_watched || pthread_atfork(before_fork, in_parent, in_child) == 0;
    return forks_watched;
}
