/*
 * fork.c — numbers this process, so that a child is told from its parent, and has the fork lock.
 *
 * The number of this process, its fork number, is on a page that the kernel zeroes in every child
 * (MADV_WIPEONFORK, Linux 4.14), whatever call made the child. A child finds 0 there and numbers itself at its
 * first call. On systems without such pages pthread_atfork does the same, but a raw clone(2) does not call it.
 *
 * The fork lock is on that page too, so that a child never inherits it locked. It is held for short times only:
 * while the list of handles or the fields of an attaching handle change, and while a descriptor is open that holds
 * a lock (bytelock.c). Fork handlers hold it across fork.
 */
#define _GNU_SOURCE
#include "proc/fork.h"
#include "base/page.h"

#include <pthread.h>
#include <sys/mman.h>

typedef struct {
    unsigned number;
    pthread_mutex_t lock; /* the fork lock; with all bytes 0 a mutex is unlocked */
} fork_page;

static fork_page ordinary = {0, PTHREAD_MUTEX_INITIALIZER};
static fork_page *page = &ordinary;
static unsigned last_number; /* children inherit it, so their numbers are greater than their parents' */
static bool forks_watched;
static pthread_once_t once = PTHREAD_ONCE_INIT;

unsigned *lard_fork_word = &ordinary.number;

static void before_fork(void) { pthread_mutex_lock(&page->lock); }
static void in_parent(void) { pthread_mutex_unlock(&page->lock); }
static void in_child(void) {
    pthread_mutex_init(&page->lock, NULL); /* its owner, a thread of the parent, does not exist here */
    page->number = ++last_number;
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
    fork_page *wiped = make_wiped_page();
    page = wiped ? wiped : page;
    page->number = ++last_number;
    lard_fork_word = &page->number;
    forks_watched = pthread_atfork(before_fork, in_parent, in_child) == 0;
}

void lard_fork_lock(void) {
    pthread_once(&once, install);
    pthread_mutex_lock(&page->lock);
    if (page->number == 0) {
        page->number = ++last_number;
    }
}

void lard_fork_unlock(void) { pthread_mutex_unlock(&page->lock); }

/* Installs the fork handlers. Without them a child could inherit a descriptor while that holds a lock. */
bool lard_fork_watch(void) {
    forks_watched = forks_watched || pthread_atfork(before_fork, in_parent, in_child) == 0;
    return forks_watched;
}
