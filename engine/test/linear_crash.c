/*
 * linear_crash.c — lets real processes work on a few keys at once, and checks that each history is linearizable.
 *
 * The processes are delayed and killed, and their results are recorded (linear.h). Nothing is evicted, so a value
 * that was stored must be found. LARDER_LINEAR_HISTORIES (default 400) is the number of rounds; a round has one
 * history per key.
 */
#include "children.h"
#include "linear.h"

extern unsigned long lard_crash_at, lard_crash_count;
extern int lard_crash_signal;

enum { WORKERS = 4, OPERATIONS = 10, KEYS = 2, KILLS_EVERY = 3, STORES_OF_A_CALL = 14 };

typedef struct {
    uint64_t clock, round; /* `round` is begun by the parent */
    uint64_t ready[WORKERS], finished[WORKERS];
    uint64_t waits;
    operation ops[WORKERS][OPERATIONS];
    uint32_t begun[WORKERS];
    bool mortal[WORKERS]; /* may be killed in this round */
} board_of_all;

static board_of_all *board;
static larder *cache;

#define SEE(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define TELL(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELEASE)

static uint64_t tick(void) { return __atomic_add_fetch(&board->clock, 1, __ATOMIC_SEQ_CST); }

static void wait_in_the_midst(int number) {
    (void)number;
    __atomic_add_fetch(&board->waits, 1, __ATOMIC_RELAXED);
    sleep_us(20 + (unsigned)(lard_crash_count * 37 % 300));
}

static void store(operation *op, const char *key, size_t key_bytes, larder_mode mode) {
    char text[24];
    larder_store request = {.key = key, .key_bytes = key_bytes, .value = text, .mode = (uint8_t)mode};
    request.value_bytes = (size_t)snprintf(text, sizeof text, "%lld", (long long)op->number);
    if (op->kind == DO_SWAP) {
        char expected[24];
        int bytes = snprintf(expected, sizeof expected, "%lld", (long long)op->expected);
        op->status = larder_cas(cache, &request, expected, (size_t)bytes, NULL);
    } else {
        op->status = larder_set(cache, &request, NULL);
    }
}

static void run(operation *op, const char *key, size_t key_bytes) {
    char text[32];
    larder_item item;
    switch ((kind)op->kind) {
    case DO_GET:
        op->status = larder_get(cache, key, key_bytes, text, sizeof text - 1, &item, NULL);
        if (op->status == LARDER_OK) {
            text[item.size_bytes] = '\0';
            op->answer = atoll(text);
        }
        break;
    case DO_DELETE:
        op->status = larder_delete(cache, key, key_bytes, NULL);
        break;
    case DO_INCREMENT:
        op->status = larder_increment(cache, key, key_bytes, op->number, INITIAL, 0, &op->answer, NULL);
        break;
    default:
        store(op, key, key_bytes,
              op->kind == DO_ADD       ? LARDER_ADD
              : op->kind == DO_REPLACE ? LARDER_REPLACE
                                       : LARDER_SET);
    }
}

/* Half of the rounds are about counters, half about values; numbers are few, so that a swap finds what it expects.
 */
static void choose(operation *op, uint64_t round, uint64_t *random) {
    static const uint8_t of_values[] = {DO_GET,    DO_GET,  DO_SET,  DO_ADD,      DO_REPLACE,
                                        DO_DELETE, DO_SWAP, DO_SWAP, DO_INCREMENT};
    static const uint8_t of_counters[] = {DO_INCREMENT, DO_INCREMENT, DO_INCREMENT, DO_INCREMENT, DO_GET,
                                          DO_GET,       DO_GET,       DO_SWAP,      DO_DELETE};
    uint64_t r = next_random(random);
    op->kind = round & 1 ? of_counters[r % sizeof of_counters] : of_values[r % sizeof of_values];
    op->key = (uint8_t)(r >> 16 & 255) % KEYS;
    op->number = op->kind == DO_INCREMENT ? 1 : 101 + (int64_t)(r >> 24 & 3);
    op->expected = 101 + (int64_t)(r >> 32 & 3);
}

/* Other keys, so that buckets are split and items moved meanwhile. */
static void fill(uint64_t random) {
    char key[32];
    for (int i = 0; i < 6; i++) {
        int bytes = snprintf(key, sizeof key, "other %llu", (unsigned long long)(random >> 20) + (unsigned)i);
        larder_store request = {.key = key, .key_bytes = (size_t)bytes, .value = key, .value_bytes = 4};
        larder_set(cache, &request, NULL);
    }
}

/* Somewhere in the next call it waits, or is killed. */
static void plan(bool mortal, uint64_t random) {
    bool dies = mortal && random % 8 == 0, waits = random >> 8 & 1;
    lard_crash_signal = dies ? SIGKILL : SIGUSR1;
    lard_crash_at = dies || waits ? lard_crash_count + 1 + (random >> 16) % STORES_OF_A_CALL : 0;
}

static void play_round(int me, uint64_t round, uint64_t *random) {
    char key[32];
    for (int i = 0; i < OPERATIONS; i++) {
        operation *op = &board->ops[me][i];
        *op = (operation){.process = (uint8_t)me};
        choose(op, round, random);
        int bytes = snprintf(key, sizeof key, "round %llu key %d", (unsigned long long)round, op->key);
        if (next_random(random) % 8 == 0) {
            fill(next_random(random));
        }
        plan(SEE(board->mortal[me]), next_random(random));
        op->began = tick();
        TELL(board->begun[me], (uint32_t)i + 1);
        run(op, key, (size_t)bytes);
        lard_crash_at = 0;
        TELL(op->ended, tick());
    }
}

static void work(int me, uint64_t after, uint64_t seed) {
    struct sigaction action = {.sa_handler = wait_in_the_midst};
    sigaction(SIGUSR1, &action, NULL);
    larder_exists(cache, "", 0, NULL, NULL); /* attaches now, not in the midst */
    for (uint64_t round = after + 1, random = seed;; round++) {
        TELL(board->ready[me], round);
        while (SEE(board->round) < round) {
            sleep_us(20);
        }
        play_round(me, round, &random);
        TELL(board->finished[me], round);
    }
}

typedef struct {
    uint64_t histories, operations, pending, killed, with_kills, overlapping, perturbed, perturbed_found;
    pid_t pids[WORKERS];
    uint64_t seed;
} record;

static void start(record *r, int me, uint64_t after) {
    uint64_t seed = next_random(&r->seed);
    r->pids[me] = fork_child();
    if (r->pids[me] == 0) {
        work(me, after, seed);
    }
}

/* Whether all came so far, or died and were replaced. */
static bool gather(record *r, const uint64_t *stage, uint64_t round, bool *dead) {
    int64_t until = now_us() + LONGEST_MS * 1000ll;
    for (int i = 0; i < WORKERS; i++) {
        while (SEE(stage[i]) < round && !dead[i]) {
            int status;
            if (waitpid(r->pids[i], &status, WNOHANG) == r->pids[i]) {
                if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
                    fprintf(stderr, "  a worker ended by itself: %x\n", status);
                    return false;
                }
                dead[i] = true;
                r->killed++;
            } else if (now_us() > until) {
                fprintf(stderr, "  worker %d hangs\n", i);
                return false;
            } else {
                sleep_us(50);
            }
        }
    }
    return true;
}

static int history_of(int key, operation *into) {
    int count = 0;
    for (int w = 0; w < WORKERS; w++) {
        for (uint32_t i = 0; i < board->begun[w]; i++) {
            if (board->ops[w][i].key == key) {
                into[count++] = board->ops[w][i];
            }
        }
    }
    return count;
}

static void count_history(record *r, const operation *ops, int count) {
    int pending = 0;
    for (int i = 0; i < count; i++) {
        pending += ops[i].ended == 0;
        for (int j = 0; j < i; j++) {
            r->overlapping += ops[i].began < (ops[j].ended ? ops[j].ended : UINT64_MAX) &&
                              ops[j].began < (ops[i].ended ? ops[i].ended : UINT64_MAX);
        }
    }
    r->histories++;
    r->operations += (uint64_t)count;
    r->pending += (uint64_t)pending;
    r->with_kills += pending > 0;
}

/* The same history with one answer changed that nobody can have got: the search must say so. */
static bool sees_a_lie(record *r, operation *ops, int count) {
    for (int i = 0; i < count; i++) {
        bool answered = ops[i].ended && ops[i].status == LARDER_OK;
        if (answered && (ops[i].kind == DO_GET || ops[i].kind == DO_INCREMENT)) {
            r->perturbed++;
            ops[i].answer += 1000;
            r->perturbed_found += !is_linearizable(ops, count);
            return r->perturbed_found == r->perturbed;
        }
    }
    return true;
}

static bool judge(record *r, uint64_t round) {
    for (int key = 0; key < KEYS; key++) {
        operation ops[MOST_OF_A_KEY];
        int count = history_of(key, ops);
        count_history(r, ops, count);
        if (!is_linearizable(ops, count)) {
            fprintf(stderr, "  round %llu, key %d is not linearizable:\n", (unsigned long long)round, key);
            print_history(ops, count);
            return false;
        }
        if (!sees_a_lie(r, ops, count)) {
            fprintf(stderr, "  a changed answer was not noticed\n");
            return false;
        }
    }
    return true;
}

static bool one_round(record *r, uint64_t round) {
    bool dead[WORKERS] = {false}, never[WORKERS] = {false};
    if (!gather(r, board->ready, round, never)) {
        return false;
    }
    for (int i = 0; i < WORKERS; i++) {
        board->begun[i] = 0;
        board->mortal[i] = round % KILLS_EVERY == 0;
    }
    TELL(board->round, round);
    if (!gather(r, board->finished, round, dead) || !judge(r, round)) {
        return false;
    }
    for (int i = 0; i < WORKERS; i++) {
        if (dead[i]) {
            start(r, i, round);
        }
    }
    return true;
}

static void tell(const record *r) {
    printf("@ %llu histories of one key, each linearizable\n", (unsigned long long)r->histories);
    printf("@ %llu operations in them\n", (unsigned long long)r->operations);
    printf("@ %llu pairs of operations that overlapped\n", (unsigned long long)r->overlapping);
    printf("@ %llu operations delayed at a store\n", (unsigned long long)board->waits);
    printf("@ %llu processes killed at a store\n", (unsigned long long)r->killed);
    printf("@ %llu operations that never ended\n", (unsigned long long)r->pending);
    printf("@ %llu histories with such\n", (unsigned long long)r->with_kills);
    printf("@ %llu histories with one answer changed, each found out\n", (unsigned long long)r->perturbed);
}

static void recorded_histories_are_linearizable(void) {
    const char *told = getenv("LARDER_LINEAR_HISTORIES");
    uint64_t rounds = told ? strtoull(told, NULL, 10) : 400;
    record r = {.seed = 20260101};
    larder_stats stats;
    bool held = true;
    board = shared_memory(sizeof *board);
    larder_options options = {.size_bytes = 64 << 20, .lock_timeout_ms = 10000};
    CHECK(larder_open(test_path("t.larder"), &options, &cache, NULL) == LARDER_OK);
    for (int i = 0; i < WORKERS; i++) {
        start(&r, i, 0);
    }
    for (uint64_t round = 1; round <= rounds && held; round++) {
        held = one_round(&r, round);
    }
    for (int i = 0; i < WORKERS; i++) {
        kill(r.pids[i], SIGKILL);
        wait_for(r.pids[i]);
    }
    CHECK(held && sound(cache));
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.evictions == 0 && stats.resets == 0 &&
          stats.damaged == 0);
    CHECK(r.pending > 0 && r.overlapping > r.histories && r.perturbed > 0);
    tell(&r);
    printf("@ %llu shards repaired after a kill\n", (unsigned long long)stats.repairs);
    larder_close(cache);
}

/* What the search must refuse, and what it must not. */
static operation done(kind k, uint64_t began, uint64_t ended, int64_t number, larder_status status,
                      int64_t answer) {
    return (operation){.kind = (uint8_t)k,
                       .began = began,
                       .ended = ended,
                       .number = number,
                       .expected = number,
                       .status = status,
                       .answer = answer};
}

static void the_search_knows_a_lie(void) {
    operation lost[] = {done(DO_INCREMENT, 1, 4, 1, LARDER_OK, 101), done(DO_INCREMENT, 2, 3, 1, LARDER_OK, 101)};
    operation both[] = {done(DO_INCREMENT, 1, 4, 1, LARDER_OK, 102), done(DO_INCREMENT, 2, 3, 1, LARDER_OK, 101)};
    operation back[] = {done(DO_SET, 1, 2, 7, LARDER_OK, 0), done(DO_DELETE, 3, 4, 0, LARDER_OK, 0),
                        done(DO_GET, 5, 6, 0, LARDER_OK, 7)};
    operation early[] = {done(DO_SET, 1, 2, 7, LARDER_OK, 0), done(DO_DELETE, 3, 6, 0, LARDER_OK, 0),
                         done(DO_GET, 4, 5, 0, LARDER_OK, 7)};
    operation twice[] = {done(DO_ADD, 1, 4, 7, LARDER_OK, 0), done(DO_ADD, 2, 3, 8, LARDER_OK, 0)};
    operation killed[] = {done(DO_SET, 1, 0, 7, LARDER_OK, 0), done(DO_GET, 2, 3, 0, LARDER_MISS, 0),
                          done(DO_GET, 4, 5, 0, LARDER_OK, 7)};
    operation undone[] = {done(DO_SET, 1, 0, 7, LARDER_OK, 0), done(DO_GET, 2, 3, 0, LARDER_OK, 7),
                          done(DO_GET, 4, 5, 0, LARDER_MISS, 0)};
    operation flicker[] = {done(DO_SET, 1, 2, 7, LARDER_OK, 0), done(DO_DELETE, 3, 8, 0, LARDER_OK, 0),
                           done(DO_GET, 4, 5, 0, LARDER_MISS, 0), done(DO_GET, 6, 7, 0, LARDER_OK, 7)};
    operation swapped[] = {done(DO_SET, 1, 2, 7, LARDER_OK, 0), done(DO_SWAP, 3, 6, 7, LARDER_OK, 0),
                           done(DO_DELETE, 4, 5, 0, LARDER_MISS, 0)};
    CHECK(!is_linearizable(lost, 2) && is_linearizable(both, 2));
    CHECK(!is_linearizable(back, 3) && is_linearizable(early, 3));
    CHECK(!is_linearizable(twice, 2) && !is_linearizable(swapped, 3));
    CHECK(is_linearizable(killed, 3) && !is_linearizable(undone, 3));
    CHECK(!is_linearizable(flicker, 4));
    operation forgot[] = {done(DO_SET, 1, 2, 7, LARDER_OK, 0), done(DO_DELETE, 3, 8, 0, LARDER_OK, 0),
                          done(DO_ADD, 4, 5, 8, LARDER_OK, 0), done(DO_GET, 6, 7, 0, LARDER_MISS, 0)};
    CHECK(is_linearizable(forgot, 4)); /* deleted, added, and deleted again by the same call */
    forgot[1].ended = 5;
    forgot[2].ended = 6;
    forgot[3].began = 9;
    forgot[3].ended = 10;
    CHECK(is_linearizable(forgot, 4));
    forgot[2].began = 6;
    forgot[2].ended = 7;
    CHECK(!is_linearizable(forgot, 4)); /* not what was added after its end */
}

/* Whenever a delete is about to empty the slot, somebody stores the key again. */
static int stores_left;

static void store_in_between(int number) {
    (void)number;
    lard_crash_at = 0;
    set(cache, "contested", "newer");
    lard_crash_at = --stores_left > 0 ? lard_crash_count + 1 : 0;
}

static void a_delete_holds_at_last(void) {
    struct sigaction action = {.sa_handler = store_in_between, .sa_flags = SA_NODEFER}, before;
    cache = open_cache(1 << 20);
    CHECK(cache && set(cache, "contested", "old") == LARDER_OK);
    sigaction(SIGUSR1, &action, &before);
    stores_left = 200;
    lard_crash_signal = SIGUSR1;
    lard_crash_at = lard_crash_count + 1;
    larder_status status = larder_delete(cache, "contested", 9, NULL);
    lard_crash_at = 0;
    sigaction(SIGUSR1, &before, NULL);
    CHECK(stores_left == 0 && status == LARDER_OK && is(cache, "contested", NULL), "%s, %d stores left",
          larder_status_name(status), stores_left);
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(the_search_knows_a_lie, "a history that no order explains is found out"),
    TEST(a_delete_holds_at_last, "a delete holds, however often others store the key meanwhile"),
    TEST(recorded_histories_are_linearizable, "what processes see that are delayed and killed has an order"),
};
RUN("linearizability", tests)
