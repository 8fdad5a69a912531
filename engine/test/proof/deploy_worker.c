/*
 * deploy_worker.c — a process in a container of environment_deploy.c. It is compiled with this version of the
 * file's format, and with the next one.
 *
 * Usage: deploy_worker LEDGER_DESCRIPTOR CACHE WORKER SEED. It looks up, stores, deletes and computes under leases
 * until the ledger tells its container to stop. Workers with an odd number attach as a Rails store does, all
 * others in each call.
 */
#include "../children.h"
#include "deploy.h"

static larder *cache;
static int me;
static uint64_t state;
static unsigned char value[LONGEST_VALUE], have[LONGEST_VALUE];

/* The lease that this process has, and computes a value under. */
static struct {
    int key; /* -1: none */
    larder_lease lease;
    larder_stamp stamp;
    uint64_t taken_at, stamped_at;
} flight = {.key = -1};

#define ALL_KEYS ((1ull << KEYS) - 1)
#define MINE (book->workers[me])

static bool told_to_stop(void) { return READ(book->stop[me / PER_CONTAINER]); }

static size_t key_text(char out[16], int key) { return (size_t)snprintf(out, 16, "key %d", key); }

static larder_tag tag_of(int key) {
    static char texts[TAGS][8];
    char *text = texts[key % TAGS];
    return (larder_tag){text, (size_t)snprintf(text, sizeof texts[0], "tag %d", key % TAGS)};
}

static size_t length_of(uint64_t id) { /* mostly short, a few in chunks */
    uint64_t seed = id, random = next_random(&seed);
    return random % 32 == 0 ? 9000 + random / 32 % (LONGEST_VALUE - 9000) : 8 + random / 32 % 600;
}

static void look_up(int key) {
    char name[16];
    uint64_t ended = READ(book->ended[key]), cleared = READ(book->cleared),
             untagged = READ(book->untagged[key % TAGS]);
    larder_item item;
    uint64_t id;
    if (larder_get(cache, name, key_text(name, key), have, sizeof have, &item, NULL) != LARDER_OK) {
        return;
    }
    if (item.size_bytes < 8 || !describes(have, item.size_bytes, (uint64_t)key, &id) || id >= VALUES ||
        item.size_bytes != length_of(id)) {
        wrong("%s: %zu bytes are not a value of this key", name, item.size_bytes);
        return;
    }
    uint64_t over = READ(book->over[id]), tags_from = READ(book->tags_from[id]);
    ended = ended > cleared ? ended : cleared;
    if (over && over < ended) {
        wrong("%s: worker %d reads value %llu, of moment %llu, after a call of moment %llu ended it", name, me,
              (unsigned long long)id, (unsigned long long)over, (unsigned long long)ended);
    } else if (tags_from && tags_from < untagged) {
        wrong("%s: worker %d reads value %llu, of moment %llu, after its tag was deleted at %llu", name, me,
              (unsigned long long)id, (unsigned long long)tags_from, (unsigned long long)untagged);
    }
    ADD(MINE.found, 1);
}

/* Before and after a call that ends leases of those keys. */
static void change(uint64_t keys) {
    NOTE(MINE.changing, keys);
    for (int key = 0; key < KEYS; key++) {
        if (keys >> key & 1) {
            ADD(book->changes[key], 1);
        }
    }
}
static void changed(void) { NOTE(MINE.changing, 0); }

/* How often leases of a key were ended. UNSTEADY: a call may be ending one at the moment. */
static uint64_t changes_of(int key) {
    uint64_t changes = READ(book->changes[key]);
    for (int who = 0; who < WORKERS; who++) {
        changes = READ(book->workers[who].changing) >> key & 1 ? UNSTEADY : changes;
    }
    return changes;
}

/* The lease is given up before the call that ends it, as another process may have the next one before that
 * returns. */
static void let_go(int key) {
    uint64_t mine = holding(me);
    __atomic_compare_exchange_n(&book->holder[key], &mine, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* A value of the key: under the lease of `flight`, or not. */
static void store(int key, bool tagged, bool leased) {
    char name[16];
    uint64_t id = ADD(book->next_value, 1);
    if (id >= VALUES) {
        return;
    }
    larder_tag tag = tag_of(key);
    larder_extra extra = {.lease = leased ? &flight.lease : NULL, .tags = &tag, .tag_count = tagged};
    larder_store wanted = {.key = name,
                           .key_bytes = key_text(name, key),
                           .value = value,
                           .value_bytes = length_of(id),
                           .extra = &extra};
    describe(value, wanted.value_bytes, (uint64_t)key, id);
    NOTE(MINE.storing, id);
    if (leased) {
        extra.stamp = flight.stamp;
        NOTE(book->over[id], flight.taken_at);
        NOTE(book->tags_from[id], tagged ? flight.stamped_at : 0);
        let_go(key);
    } else {
        change(1ull << key);
    }
    uint64_t begun = tick();
    larder_status status = larder_set(cache, &wanted, NULL);
    changed();
    if (!leased) {
        uint64_t over = tick();
        NOTE(book->over[id], over);
        NOTE(book->tags_from[id], tagged ? over : 0);
    }
    NOTE(MINE.storing, 0);
    if (status == LARDER_OK) {
        ADD(MINE.stores, 1);
    } else if (leased && status == LARDER_NOT_STORED) {
        ADD(MINE.lost_leases, 1);
    } else {
        ADD(MINE.refused, 1);
    }
    if (!leased && (status == LARDER_OK || status == LARDER_BUSY || status == LARDER_FULL)) {
        raise_to(&book->ended[key], begun);
    }
}

static void delete (int key) {
    char name[16];
    change(1ull << key);
    uint64_t begun = tick();
    larder_status status = larder_delete(cache, name, key_text(name, key), NULL);
    changed();
    if (status == LARDER_OK || status == LARDER_MISS) {
        raise_to(&book->ended[key], begun);
        ADD(MINE.deletes, 1);
    }
}

static void delete_tag(int key) {
    larder_tag tag = tag_of(key);
    change(ALL_KEYS);
    uint64_t begun = tick();
    larder_status status = larder_delete_tagged(cache, &tag, 1, NULL);
    changed();
    if (status == LARDER_OK) {
        raise_to(&book->untagged[key % TAGS], begun);
        ADD(MINE.tag_deletes, 1);
    }
}

static void clear(void) {
    change(ALL_KEYS);
    uint64_t begun = tick();
    larder_status status = larder_clear(cache);
    changed();
    if (status == LARDER_OK) {
        raise_to(&book->cleared, begun);
        ADD(MINE.clears, 1);
    }
}

/* This process has the lease: no other one that lives may have it, unless the key was changed since. */
static void be_the_only_one(int key, uint64_t changes) {
    uint64_t before = READ(book->holder[key]), held_at = READ(book->held_at[key]);
    int who = (int)(before & 255) - 1;
    if (READ(book->one_version) && before && who != me && before == holding(who) && !is_doomed(who) &&
        held_at == changes && changes != UNSTEADY && READ(book->holder[key]) == before &&
        READ(book->changes[key]) == changes) {
        wrong("key %d: worker %d and worker %d have the lease at once", key, who, me);
    }
    NOTE(book->held_at[key], changes);
    NOTE(book->holder[key], holding(me));
}

/* A process that has a lease lives, whatever its number means in the PID namespace here. */
static void believe_that_it_lives(uint32_t process) {
    for (int who = 0; who < WORKERS && READ(book->one_version); who++) {
        uint64_t incarnation = READ(book->workers[who].incarnation);
        if (!is_doomed(who) && READ(book->workers[who].process) == process &&
            !larder_process_lives(cache, process) && READ(book->workers[who].incarnation) == incarnation &&
            READ(book->workers[who].process) == process) {
            wrong("worker %d takes worker %d for dead", me, who);
        }
    }
}

static void fly(int key) {
    char name[16];
    size_t bytes = key_text(name, key);
    if (flight.key >= 0 || larder_exists(cache, name, bytes, NULL, NULL) == LARDER_OK) {
        return;
    }
    uint64_t changes = changes_of(key);
    flight.lease = (larder_lease){0};
    larder_status status = larder_lease_take(cache, name, bytes, LEASE_MS, &flight.lease, NULL);
    if (status == LARDER_OK) {
        be_the_only_one(key, changes);
        flight.key = key;
        flight.taken_at = tick();
        flight.stamp = (larder_stamp){0};
        larder_stamp_now(cache, &flight.stamp);
        flight.stamped_at = flight.stamp.origin ? tick() : 0;
        ADD(MINE.leases, 1);
    } else if (status == LARDER_LEASED) {
        believe_that_it_lives(flight.lease.process);
        larder_lease_wait(cache, name, bytes, &flight.lease, 2, NULL);
        ADD(MINE.waits, 1);
    }
}

static void land(bool with_a_value, bool tagged) {
    char name[16];
    int key = flight.key;
    if (key < 0) {
        return;
    }
    flight.key = -1;
    if (with_a_value) {
        store(key, tagged && flight.stamped_at, true);
    } else {
        let_go(key);
        larder_lease_end(cache, name, key_text(name, key), &flight.lease, 0, NULL);
    }
}

static void act(void) {
    uint64_t random = next_random(&state);
    int key = (int)((random >> 32) % KEYS);
    switch (random % 32) {
    case 0:
    case 1:
    case 2:
        store(key, random >> 40 & 1, false);
        break;
    case 3:
    case 4:
        delete (key);
        break;
    case 5:
        if (random >> 40 & 1) {
            delete_tag(key);
        }
        break;
    case 6:
        if (random >> 58 == 0) {
            clear();
        }
        break;
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
        fly(key);
        break;
    case 13:
    case 14:
    case 15:
        land(random >> 40 & 7, random >> 43 & 1);
        break;
    default:
        look_up(key);
    }
    ADD(MINE.calls, 1);
}

static bool open_the_cache(const char *path) {
    larder_options options = {.size_bytes = CACHE_BYTES, .lock_timeout_ms = 200, .attach_later = me % 2};
    while (larder_open(path, &options, &cache, NULL) !=
           LARDER_OK) { /* a newer version has the file, or an opener */
        if (told_to_stop()) {
            return false;
        }
        sleep_us(1000);
    }
    return true;
}

int main(int count, char **arguments) {
    if (count != 5) {
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    me = atoi(arguments[3]);
    state = strtoull(arguments[4], NULL, 10);
    book = mmap(NULL, sizeof *book, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(arguments[1]), 0);
    if (book == MAP_FAILED) {
        return 3;
    }
    if (!open_the_cache(arguments[2])) {
        return 0;
    }
    for (uint64_t i = 1; !told_to_stop(); i++) {
        if (me % 2 && larder_attached(cache) == 0) {
            larder_attach(cache, 20, NULL);
        }
        NOTE(MINE.process, larder_process(cache));
        act();
        if (i % 16 == 0) {
            sleep_us(60); /* leave some of the machine to others */
        }
    }
    land(false, false);
    larder_close(cache);
    return 0;
}
