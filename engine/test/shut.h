/*
 * shut.h — makes shared memory read-only except for announced stores.
 *
 * The maps of a process are read-only, so each store faults. The handler allows it only if the test build has
 * announced a store to that very word (LARD_WRITE). It opens the page for that one instruction, which the
 * processor's single-step flag ends, and closes it again. A store outside the macro, or to another address than
 * announced, ends the process with a message that tells where. Statistics are allowed, in the process's own row
 * only, and an atomic or that changes nothing (lard_dirty).
 *
 * Linux on x86-64; elsewhere SHUT_WORKS is not defined.
 */
#ifndef LARD_SHUT_H
#define LARD_SHUT_H

#include "children.h"

#if defined(__linux__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SHUT_WORKS
#endif

#ifdef SHUT_WORKS
#include <sys/syscall.h>
#include <ucontext.h>

extern unsigned long lard_crash_count;
extern const void *lard_crash_store;

typedef struct {             /* in shared memory, so that a parent reads what a child came to */
    unsigned long stores;    /* that were announced and came */
    unsigned long advice;    /* the named exceptions */
    unsigned long unchanged; /* stores that were not announced and changed nothing */
    unsigned long unannounced;
    unsigned long numbered;
    uint64_t first_offset; /* in its file, of the first that was not announced */
} shut_tally;

static shut_tally *shut;

enum { MAPS = 16, SINGLE_STEP = 0x100 };
static struct {
    uint8_t *base;
    size_t bytes;
    bool is_hints;
} shut_maps[MAPS];
static uint8_t *open_page;
static struct {
    const uint64_t *at; /* NULL: none */
    uint64_t value;
} must_stay; /* the word that the instruction that runs must not change */
static volatile bool shutting;

static inline bool is_of_hints(int fd) {
    char link[64], name[64] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return readlink(link, name, sizeof name - 1) == 16 + 32 && strncmp(name, "/dev/shm/larder-", 16) == 0;
}

/* Maps of files that are made from now on are shut from the start. */
void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    bool ours = shutting && fd >= 0 && (flags & MAP_SHARED);
    void *base =
        (void *)syscall(SYS_mmap, address, bytes, ours ? protection & ~PROT_WRITE : protection, flags, fd, offset);
    for (int i = 0; ours && base != MAP_FAILED && i < MAPS; i++) {
        if (!shut_maps[i].base) {
            shut_maps[i].base = base;
            shut_maps[i].bytes = bytes;
            shut_maps[i].is_hints = is_of_hints(fd);
            break;
        }
    }
    return base;
}

int munmap(void *base, size_t bytes) {
    for (int i = 0; i < MAPS; i++) {
        if (shut_maps[i].base == base) {
            shut_maps[i].base = NULL;
        }
    }
    return (int)syscall(SYS_munmap, base, bytes);
}

static inline int map_of(const uint8_t *at) {
    for (int i = 0; i < MAPS; i++) {
        if (shut_maps[i].base && at >= shut_maps[i].base && at < shut_maps[i].base + shut_maps[i].bytes) {
            return i;
        }
    }
    return -1;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
/* Memory that is reserved is not stored to, but the kernel wants the right to store. */
int madvise(void *address, size_t bytes, int advice) {
    bool is_shut = shutting && advice == MADV_POPULATE_WRITE && map_of(address) >= 0;
    if (is_shut) {
        mprotect(address, bytes, PROT_READ | PROT_WRITE);
    }
    int answer = (int)syscall(SYS_madvise, address, bytes, advice);
    if (is_shut) {
        mprotect(address, bytes, PROT_READ);
    }
    return answer;
}

/* The named exceptions: the hints, and statistics in the process table. */
static inline bool is_advice(int map, uint64_t offset) {
    uint64_t slots = ((const lard_superblock *)shut_maps[map].base)->process_slots;
    uint64_t inside = (offset - LARD_PROCESS_OFFSET) % sizeof(lard_process);
    return shut_maps[map].is_hints ||
           (offset >= LARD_PROCESS_OFFSET && offset < LARD_PROCESS_OFFSET + slots * sizeof(lard_process) &&
            inside >= offsetof(lard_process, counted_ms));
}

static void end_at(const uint8_t *at) {
    static const char text[] = "  a store to shared memory that was not announced\n";
    shut->unannounced++;
    shut->first_offset = (uint64_t)(at - shut_maps[map_of(at)].base);
    (void)!write(2, text, sizeof text - 1);
    _exit(99);
}

/* lock or of eight bytes with a small constant or a register */
static inline bool is_or(const uint8_t *code) {
    return code[0] == 0xf0 && (code[1] & 0xf8) == 0x48 &&
           (code[2] == 0x09 || (code[2] == 0x83 && (code[3] & 0x38) == 0x08));
}

static void on_store(int number, siginfo_t *info, void *context) {
    ucontext_t *frame = context;
    uint8_t *at = info->si_addr;
    int map = map_of(at);
    const uint8_t *announced = lard_crash_store;
    (void)number;
    if (map < 0) {
        signal(SIGSEGV, SIG_DFL); /* no business of ours: it comes again and is fatal */
        return;
    }
    if (announced && at >= announced && at < announced + 8) {
        shut->stores++;
        lard_crash_store = NULL; /* one announcement, one store */
    } else if (is_advice(map, (uint64_t)(at - shut_maps[map].base))) {
        shut->advice++;
    } else if (is_or((const uint8_t *)frame->uc_mcontext.gregs[REG_RIP])) {
        must_stay.at = (const uint64_t *)((uintptr_t)at & ~(uintptr_t)7);
        must_stay.value = *must_stay.at;
        shut->unchanged++;
    } else {
        end_at(at);
    }
    open_page = (uint8_t *)((uintptr_t)at & ~(uintptr_t)(lard_page_bytes() - 1));
    mprotect(open_page, lard_page_bytes(), PROT_READ | PROT_WRITE);
    frame->uc_mcontext.gregs[REG_EFL] |= SINGLE_STEP;
}

static void after_store(int number, siginfo_t *info, void *context) {
    ucontext_t *frame = context;
    (void)number, (void)info;
    frame->uc_mcontext.gregs[REG_EFL] &= ~SINGLE_STEP;
    mprotect(open_page, lard_page_bytes(), PROT_READ);
    if (must_stay.at && *must_stay.at != must_stay.value) {
        end_at((const uint8_t *)must_stay.at);
    }
    must_stay.at = NULL;
}

/* Shuts the map of a handle (NULL: none yet) and all that come. For the rest of the process's life. */
static inline void shut_memory(larder *cache) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = on_store;
    sigaction(SIGSEGV, &action, NULL);
    action.sa_sigaction = after_store;
    sigaction(SIGTRAP, &action, NULL);
    if (cache) {
        shut_maps[0].base = cache->core->map->base;
        shut_maps[0].bytes = cache->core->map->bytes;
        shut_maps[0].is_hints = false;
        shut_maps[1].base = cache->core->map->hints;
        shut_maps[1].bytes = cache->core->map->hints_bytes;
        shut_maps[1].is_hints = true;
        mprotect(cache->core->map->base, cache->core->map->bytes, PROT_READ);
        mprotect(cache->core->map->hints, cache->core->map->hints_bytes, PROT_READ);
    }
    shutting = true;
    lard_crash_count = 0;
    lard_crash_store = NULL;
}
#endif

#endif
