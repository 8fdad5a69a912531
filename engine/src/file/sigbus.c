/*
 * sigbus.c — handles SIGBUS: a page of a mapped cache file cannot be read or written.
 *
 * Space is reserved at creation, so the cause is that the file was truncated, the disk failed, or a copy-on-write
 * file system is full. The handler maps zero pages over the whole map, or over one page at a time if the kernel
 * grants no more memory, and marks the map poisoned. Then the running call finds invalid checksums and ends as a
 * miss or a refusal; later calls attach again (attach.c). If it was a page of the hints (hints.h), zeros are all
 * that is needed. Faults at other addresses go to the handler that was installed before.
 *
 * This state is process-wide, because a process has one handler for a signal. Each thread has its own signal mask,
 * see lard_sigbus_unblock.
 */
#define _GNU_SOURCE
#include "file/sigbus.h"
#include "base/fail.h"
#include "base/page.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_MAPS 2048 /* two of a cache: of its file and of its hints */

/* Read by the handler. It follows `map` only if the address is inside it: then a thread is using that map. */
static struct {
    const uint8_t *base;
    size_t bytes;
    lard_map *map; /* stored last, cleared first */
} guarded[MAX_MAPS];
static bool installed;
static struct sigaction previous;
static size_t page_bytes;

static void pass_on(int number, siginfo_t *info, void *context) {
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
    } else { /* the fault repeats at once and is then fatal, as without this handler */
        signal(SIGBUS, SIG_DFL);
    }
}

static bool lay_zeros(const uint8_t *from, size_t bytes) {
    int flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE; /* the map may be larger than memory */
    return mmap((void *)(uintptr_t)from, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
}

static void on_sigbus(int number, siginfo_t *info, void *context) {
    const uint8_t *address = info->si_addr;
    int code = errno; /* of the code that the signal interrupts */
    for (int i = 0; i < MAX_MAPS; i++) {
        lard_map *map = __atomic_load_n(&guarded[i].map, __ATOMIC_ACQUIRE);
        const uint8_t *base = __atomic_load_n(&guarded[i].base, __ATOMIC_RELAXED);
        size_t bytes = __atomic_load_n(&guarded[i].bytes, __ATOMIC_RELAXED);
        if (map && address >= base && address < base + bytes) {
            size_t page = (size_t)(address - base) / page_bytes * page_bytes;
            map->poisoned |= base == map->base;
            if (lay_zeros(base, bytes) || lay_zeros(base + page, page_bytes)) {
                errno = code;
                return;
            }
        }
    }
    pass_on(number, info, context);
}

_Thread_local bool lard_sigbus_unblocked;

void lard_sigbus_unblock(void) {
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    lard_sigbus_unblocked = pthread_sigmask(SIG_UNBLOCK, &bus, NULL) == 0;
}

static bool install(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    page_bytes = lard_page_bytes();
    return sigaction(SIGBUS, &action, &previous) == 0;
}

larder_status lard_sigbus_guard(lard_map *map, const uint8_t *base, size_t bytes, const char *path,
                                larder_error *error) {
    lard_sigbus_enter();
    installed = installed || install();
    if (!installed) {
        return lard_fail_call(error, "handle SIGBUS for", path, errno);
    }
    for (int i = 0; i < MAX_MAPS; i++) {
        if (__atomic_load_n(&guarded[i].map, __ATOMIC_RELAXED) == NULL) {
            __atomic_store_n(&guarded[i].base, base, __ATOMIC_RELAXED);
            __atomic_store_n(&guarded[i].bytes, bytes, __ATOMIC_RELAXED);
            __atomic_store_n(&guarded[i].map, map, __ATOMIC_RELEASE);
            return LARDER_OK;
        }
    }
    return lard_fail(error, LARDER_NO_MEMORY, ENOMEM, "%s: this process has %d caches open; close some", path,
                     MAX_MAPS / 2);
}

/*
 * Maps zeros over a map that was left long ago, so that it needs no guard any more: there are MAX_MAPS guards. A
 * thread that is still inside sees what it would see after a fault.
 */
bool lard_sigbus_blank(lard_map *map) {
    bool any = false;
    for (int i = 0; i < MAX_MAPS; i++) {
        if (__atomic_load_n(&guarded[i].map, __ATOMIC_RELAXED) == map) {
            map->poisoned = 1;
            any = true;
            if (lay_zeros(guarded[i].base, guarded[i].bytes)) {
                __atomic_store_n(&guarded[i].map, NULL, __ATOMIC_RELEASE);
            }
        }
    }
    return any;
}

void lard_sigbus_release(lard_map *map) {
    for (int i = 0; i < MAX_MAPS; i++) {
        if (__atomic_load_n(&guarded[i].map, __ATOMIC_RELAXED) == map) {
            __atomic_store_n(&guarded[i].map, NULL, __ATOMIC_RELEASE);
        }
    }
}
