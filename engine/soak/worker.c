/*
 * worker.c — a process of the soak that uses the engine without Ruby: stores,
 * deletes and counts its own keys, looks up everyone's, and holds what it sees
 * against the book. Usage: worker BOOK CACHE SIZE WRONG SEED MILLISECONDS
 */
#define _GNU_SOURCE
#include "larder.h"
#include "prove.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { LARGEST = 1 << 20, BATCH = 16, FILLERS = 40000, RETRY_MS = 20 };

static larder *cache;
static uint64_t calls, found, missed, refused, lost;
static volatile sig_atomic_t told_to_end;
static unsigned char value[LARGEST], seen[LARGEST];

static void end_soon(int number) { told_to_end = number; }

/* One lookup of anyone's key. Returns the stamp found, or 0. */
static uint64_t look_up(int slot, int row) {
    char name[40];
    size_t key = key_of(name, 'b', slot, row);
    int base = row_of(slot, row);
    watch w = watch_row(base);
    int64_t asked_ms = unix_ms();
    larder_item item;
    header head;
    larder_status status = larder_get(cache, name, key, seen, sizeof seen, &item, NULL);
    if (status == LARDER_MISS) {
        missed++;
        return 0;
    }
    if (status != LARDER_OK) {
        wrong("%s: get answers %s", name, larder_status_name(status));
        return 0;
    }
    found++;
    if (!proves_itself(seen, item.size_bytes, &head) || head.number != number_of(slot, row)) {
        wrong("%s: %zu bytes that are no value of this key", name, item.size_bytes);
        return 0;
    }
    judge(name, base, &head, &w, asked_ms);
    if (item.expires_at_ms && item.expires_at_ms + CLOCK_MS < asked_ms) {
        wrong("%s: found %lld ms after it expired", name, (long long)(asked_ms - item.expires_at_ms));
    }
    return head.stamp;
}

static void acknowledge(int base, uint64_t stamp, bool present) {
    soak_store(book, base + ROW_PRESENT, present);
    soak_store(book, base + ROW_ACKED_AT, now_ns());
    soak_store(book, base + ROW_ACKED, stamp);
}

static void store_own(int row) {
    char name[40];
    int base = row_of(me, row);
    uint64_t stamp = now_ns();
    int64_t ttl_ms = random_number() >> 8 & 3 ? 0 : 50 + (int64_t)((random_number() >> 8) % 4000);
    larder_store store = {.key = name,
                          .key_bytes = key_of(name, 'b', me, row),
                          .value = value,
                          .value_bytes = some_length(),
                          .ttl_ms = ttl_ms};
    int64_t now = unix_ms();
    larder_call call = {.now_ms = now};
    describe(value, store.value_bytes, number_of(me, row), stamp, ttl_ms ? now + ttl_ms : 0);
    soak_store(book, base + ROW_BEGUN, stamp);
    if (larder_set(cache, &store, &call) == LARDER_OK) {
        acknowledge(base, stamp, ttl_ms == 0);
    } else { /* refused: neither this value nor the one before may be seen again */
        uint64_t later = now_ns();
        refused++;
        soak_store(book, base + ROW_BEGUN, later);
        acknowledge(base, later, false);
    }
}

static void delete_own(int row) {
    char name[40];
    int base = row_of(me, row);
    uint64_t stamp = now_ns();
    soak_store(book, base + ROW_BEGUN, stamp);
    larder_status status = larder_delete(cache, name, key_of(name, 'b', me, row), NULL);
    if (status != LARDER_OK && status != LARDER_MISS) {
        if (!hostile_since(stamp)) {
            wrong("%s: delete answers %s", name, larder_status_name(status));
        }
        return;
    }
    acknowledge(base, stamp, false);
}

/* A counter that is gone begins again where its owner knows it to be. */
static void count_own(int counter) {
    char name[40];
    int base = row_of(me, BYTE_KEYS + RAILS_KEYS + counter);
    uint64_t acked = soak_load(book, base + ROW_ACKED), begun = soak_load(book, base + ROW_BEGUN);
    uint64_t most = (begun > acked ? begun : acked) + 1;
    int64_t number = 0;
    uint64_t started = now_ns();
    soak_store(book, base + ROW_BEGUN, most);
    larder_status status =
        larder_increment(cache, name, key_of(name, 'c', me, counter), 1, (int64_t)acked, 0, &number, NULL);
    if (status != LARDER_OK) {
        refused++;
        return;
    }
    if (((uint64_t)number <= acked || (uint64_t)number > most) && !hostile_since(started)) {
        wrong("%s: %lld after %llu", name, (long long)number, (unsigned long long)acked);
    }
    if ((uint64_t)number > acked) {
        soak_store(book, base + ROW_ACKED, (uint64_t)number);
    }
}

static void look_up_counter(int slot, int counter) {
    char name[40], text[40];
    int base = row_of(slot, BYTE_KEYS + RAILS_KEYS + counter);
    uint64_t acked = soak_load(book, base + ROW_ACKED), started = now_ns();
    larder_item item;
    if (larder_get(cache, name, key_of(name, 'c', slot, counter), text, sizeof text - 1, &item, NULL) !=
        LARDER_OK) {
        return;
    }
    text[item.size_bytes] = '\0';
    uint64_t number = strtoull(text, NULL, 10), begun = soak_load(book, base + ROW_BEGUN);
    if ((number < acked || number > begun) && !hostile_since(started)) {
        wrong("%s: %s, between %llu and %llu", name, text, (unsigned long long)acked, (unsigned long long)begun);
    }
}

/* Values nobody looks after. They make the cache full and its index move. */
static void fill(void) {
    char name[40];
    int which = (int)((random_number() >> 8) % FILLERS);
    larder_store store = {.key = name,
                          .key_bytes = key_of(name, 'f', which, 0),
                          .value = value,
                          .value_bytes = HEADER + (random_number() >> 8) % 2500};
    describe(value, store.value_bytes, (uint64_t)which, 1, 0);
    larder_set(cache, &store, NULL);
}

static void look_at_own(int row) {
    int base = row_of(me, row);
    if (soak_load(book, base + ROW_PRESENT) &&
        soak_load(book, base + ROW_BEGUN) == soak_load(book, base + ROW_ACKED) && !look_up(me, row)) {
        soak_store(book, base + ROW_PRESENT, 0);
        lost++;
    }
}

static void act(void) {
    unsigned kind = (unsigned)(random_number() >> 32) % 32;
    int row = (int)((random_number() >> 8) % BYTE_KEYS), slot = (int)((random_number() >> 8) % SLOTS);
    if (kind < 6) {
        store_own(row);
    } else if (kind < 8) {
        delete_own(row);
    } else if (kind < 10) {
        count_own(row % COUNTERS);
    } else if (kind < 12) {
        look_up_counter(slot, row % COUNTERS);
    } else if (kind < 15) {
        fill();
    } else if (kind < 16) {
        look_at_own(row);
    } else {
        look_up(slot, row);
    }
    calls++;
}

static void note_counts(void) {
    int base = SOAK_FIRST_SLOT + me * SLOT_WORDS;
    uint64_t *counts[] = {&calls, &found, &missed, &refused, &lost};
    for (int i = 0; i < 5; i++) {
        soak_add(book, base + SLOT_CALLS + i, *counts[i]);
        *counts[i] = 0;
    }
    soak_store(book, base + SLOT_BEAT, now_ns());
}

static void sleep_ms(unsigned ms) {
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static void rest(void) {
    while (soak_load(book, SOAK_RESTING) && !soak_load(book, SOAK_ENDING) && !told_to_end) {
        soak_store(book, SOAK_FIRST_SLOT + me * SLOT_WORDS + SLOT_RESTS, 1);
        soak_store(book, SOAK_FIRST_SLOT + me * SLOT_WORDS + SLOT_BEAT, now_ns());
        sleep_ms(100);
    }
    soak_store(book, SOAK_FIRST_SLOT + me * SLOT_WORDS + SLOT_RESTS, 0);
}

static bool claim_any(void) {
    int first = (int)((random_number() >> 8) % SLOTS);
    for (int i = 0; i < SLOTS; i++) {
        me = (first + i) % SLOTS;
        if (soak_claim(book, book_fd, me)) {
            return true;
        }
    }
    return false;
}

/* What a predecessor that was killed came to is what is found now. */
static void inherit(void) {
    for (int row = 0; row < BYTE_KEYS; row++) {
        int base = row_of(me, row);
        uint64_t acked = soak_load(book, base + ROW_ACKED);
        uint64_t stamp = soak_load(book, base + ROW_BEGUN) == acked ? 0 : look_up(me, row);
        if (stamp > acked) {
            acknowledge(base, stamp, false);
        }
    }
}

static void work(uint64_t life_ms) {
    uint64_t ends = life_ms ? now_ns() + life_ms * 1000000u : UINT64_MAX;
    inherit();
    while (!told_to_end && !soak_load(book, SOAK_ENDING) && now_ns() < ends) {
        for (int i = 0; i < BATCH; i++) {
            act();
        }
        note_counts();
        rest();
        sleep_ms((random_number() >> 8) % 8 == 0);
    }
}

/* A child goes on with the handle it inherited, for a moment. */
static void fork_one(void) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        soak_end_with_parent();
        state ^= (uint64_t)getpid() << 20;
        if (claim_any()) {
            soak_add(book, SOAK_FORKS, 1);
            work(50 + (random_number() >> 8) % 300);
            if (random_number() >> 63) {
                larder_close(cache);
            }
        }
        _exit(0);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
        if (told_to_end) { /* the child may rest for long, and this process rests no more */
            kill(pid, SIGTERM);
            sleep_ms(1);
        }
        work(20);
    }
    if (pid > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0) &&
        !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) {
        wrong("a native worker's child ended with status %x", (unsigned)status);
    }
}

static bool open_cache(const char *path, uint64_t size_bytes) {
    larder_options options = {.size_bytes = size_bytes};
    larder_error error;
    for (int attempt = 0; attempt < 100; attempt++) {
        larder_status status = larder_open(path, &options, &cache, &error);
        if (status == LARDER_OK) {
            return true;
        }
        if (status != LARDER_LOCKED) { /* who has it may be stopped */
            break;
        }
        sleep_ms(RETRY_MS);
    }
    wrong("a native worker cannot open: %s: %s", error.detail, larder_status_text(error.status));
    return false;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: %s BOOK CACHE SIZE WRONG SEED MILLISECONDS\n", argv[0]);
        return 2;
    }
    soak_end_with_parent();
    signal(SIGTERM, end_soon);
    signal(SIGINT, SIG_IGN); /* the terminal's is for the first process, which ends all others */
    wrong_path = argv[4];
    state = strtoull(argv[5], NULL, 10) | 1;
    make_crc_table();
    book = soak_map(argv[1], &book_fd);
    uint64_t size_bytes = strtoull(argv[3], NULL, 10), life_ms = strtoull(argv[6], NULL, 10);
    if (!book || !claim_any()) {
        return book ? 0 : 1;
    }
    uint64_t ends = life_ms ? now_ns() + life_ms * 1000000u : UINT64_MAX;
    while (!told_to_end && !soak_load(book, SOAK_ENDING) && now_ns() < ends) {
        if (!open_cache(argv[2], size_bytes)) {
            return 1;
        }
        work(200 + (random_number() >> 8) % 3000);
        if (!told_to_end) {
            fork_one();
        }
        larder_close(cache);
        cache = NULL;
    }
    soak_release(book, book_fd, me);
    return 0;
}
