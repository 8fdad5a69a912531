/*
 * configuration_rows_test.c — the table of configurations: who takes a row, who loses it, and what damage does to
 * it.
 */
#include "configurations.h"

#include "file/belief.h"

enum { ROWS = LARD_CONFIGURATIONS - 1, MANY = 9 };

static larder *many[MANY + 1]; /* of the configurations 1 to MANY */

static bool open_many(unsigned count) {
    bool opened = true;
    for (unsigned i = 1; i <= count; i++) {
        opened = (many[i] = open_as(i)) && opened;
    }
    return opened;
}

static void close_many(unsigned count) {
    for (unsigned i = 1; i <= count; i++) {
        larder_close(many[i]);
    }
}

static lard_configuration *row_of(const larder *cache, unsigned row) {
    return &cache->core->map->control->configurations[row];
}

static uint32_t epoch_of(const larder *cache) { return lard_load(&cache->core->map->control->clear_epoch); }

/* True if each reads what it stored itself, and none what another stored. */
static bool are_apart(unsigned count, unsigned *without_row) {
    char key[16];
    *without_row = 0;
    for (unsigned i = 1; i <= count; i++) {
        snprintf(key, sizeof key, "key %u", i);
        larder_status status = set(many[i], key, key);
        *without_row += status == LARDER_NO_CONFIGURATION;
        if ((status != LARDER_OK && status != LARDER_NO_CONFIGURATION) ||
            !is(many[i], key, status == LARDER_OK ? key : NULL)) {
            return false;
        }
        for (unsigned k = 1; k <= count; k++) {
            if (k != i && !is(many[k], key, NULL)) {
                return false;
            }
        }
    }
    return true;
}

static void seven_have_room(void) {
    unsigned without;
    CHECK(open_many(ROWS));
    uint32_t epoch = epoch_of(many[1]);
    CHECK(are_apart(ROWS, &without) && without == 0 && epoch_of(many[1]) == epoch);
    larder *none = open_as(0), *again = open_as(3);
    CHECK(is(again, "key 3", "key 3") && is(none, "key 3", NULL) && epoch_of(none) == epoch);
    larder_close(again);
    larder_close(none);
    close_many(ROWS);
}

/* The rows of processes that have ended, as of former deploys, and the file is closed in between. */
static void the_eighth_clears(void) {
    CHECK(open_many(ROWS) && set(many[2], "k", "v") == LARDER_OK);
    larder *none = open_as(0);
    larder_stats before;
    CHECK(larder_get_stats(none, &before) == LARDER_OK);
    CHECK(before.configurations == ROWS && before.configurations_full_ms == 0);
    CHECK(set(none, "none", "v") == LARDER_OK);
    uint32_t epoch = epoch_of(none);
    larder_close(none);
    close_many(ROWS);
    larder *second = open_as(2), *eighth = NULL;
    CHECK(is(second, "k", "v") && epoch_of(second) == epoch, "it is remembered");
    CHECK((eighth = open_as(8)) && epoch_of(second) != epoch && is(second, "k", NULL) && is(eighth, "k", NULL));
    CHECK(set(eighth, "k", "8") == LARDER_OK && is(eighth, "k", "8") && is(second, "k", NULL));
    CHECK(set(second, "k", "2") == LARDER_OK && is(second, "k", "2") && is(eighth, "k", NULL));
    larder_stats stats;
    CHECK(larder_get_stats(eighth, &stats) == LARDER_OK && stats.configurations == 2 &&
          stats.configurations_full_ms);
    for (unsigned row = 3; row < LARD_CONFIGURATIONS; row++) {
        CHECK(lard_load(&row_of(second, row)->digest) == 0, "row %u is free", row);
    }
    larder_close(second);
    larder_close(eighth);
}

/* More than there is room for, all alive: after the last has come, no call of any of them clears the file. */
static void nine_do_not_clear_for_ever(void) {
    unsigned without;
    CHECK(open_many(MANY));
    uint32_t epoch = epoch_of(many[1]);
    for (int round = 0; round < 50; round++) {
        CHECK(are_apart(MANY, &without) && without == MANY - ROWS, "%u without a row", without);
        CHECK(epoch_of(many[1]) == epoch);
    }
    larder *again = open_as(1);
    CHECK(epoch_of(many[1]) == epoch, "to open one again does not either");
    larder_close(again);
    CHECK(sound(many[1]));
    close_many(MANY);
}

static unsigned one_without_row(void) {
    for (unsigned i = 1; i <= MANY; i++) {
        if (set(many[i], "probe", "") == LARDER_NO_CONFIGURATION) {
            return i;
        }
    }
    return 0;
}

static void one_without_a_row_removes(void) {
    int64_t n;
    larder_lease lease = {0};
    CHECK(open_many(MANY) && set(many[MANY], "k", "v") == LARDER_OK && set(many[MANY], "d", "v") == LARDER_OK);
    larder *lost = many[one_without_row()];
    CHECK(set(lost, "k", "w") == LARDER_NO_CONFIGURATION && is(many[MANY], "k", NULL), "a refused store drops");
    CHECK(larder_delete(lost, "d", 1, NULL) == LARDER_OK && is(many[MANY], "d", NULL));
    CHECK(larder_increment(lost, "n", 1, 1, 0, 0, &n, NULL) == LARDER_NO_CONFIGURATION);
    CHECK(larder_touch(lost, "n", 1, 1, NULL) == LARDER_MISS);
    CHECK(larder_lease_take(lost, "l", 1, 1000, &lease, NULL) == LARDER_NO_CONFIGURATION);
    CHECK(larder_trust(lost, 1000, NULL) == LARDER_NO_CONFIGURATION && larder_trusted(lost) == LARDER_MISS);
    close_many(MANY);
}

/* A process that had a row learns that it was given to another one: at its next store, and at its next read. */
static void a_lost_row_is_noticed(void) {
    for (int reads_first = 0; reads_first < 2; reads_first++) {
        unlink(test_path("t.larder"));
        CHECK(open_many(1) && set(many[1], "k", "of 1") == LARDER_OK && is(many[1], "k", "of 1"));
        pid_t child = fork_child();
        if (child == 0) { /* a process of its own: it attaches, and takes all rows */
            for (unsigned i = 2; i <= ROWS + 1; i++) {
                many[i] = open_as(i);
                CHILD_CHECK(set(many[i], "warm", "") == LARDER_OK);
            }
            unsigned lowest = 0;
            for (unsigned i = 2; i <= ROWS + 1; i++) {
                char key[16];
                snprintf(key, sizeof key, "key %u", i);
                lowest += set(many[i], key, "theirs") == LARDER_OK;
            }
            CHILD_CHECK(lowest == ROWS);
            _exit(0);
        }
        CHECK(exited_well(child));
        CHECK(lard_load(&row_of(many[1], 1)->digest) != lard_belief_mark(many[1]->belief, many[1]->core->map));
        for (unsigned i = 2; reads_first && i <= ROWS + 1; i++) {
            char key[16];
            snprintf(key, sizeof key, "key %u", i);
            CHECK(is(many[1], key, NULL), "of %u", i);
        }
        CHECK(set(many[1], "k", "w") == LARDER_NO_CONFIGURATION && is(many[1], "k", NULL));
        CHECK(set(many[1], "key 2", "w") == LARDER_NO_CONFIGURATION);
        close_many(1);
    }
}

/* Each process that starts clears at most once, its children not at all. */
static void children_do_not_clear(void) {
    CHECK(open_many(MANY));
    unsigned lost = one_without_row();
    uint32_t epoch = epoch_of(many[1]);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork_child();
        if (child == 0) {
            CHILD_CHECK(larder_attach(many[lost], 1000, NULL) == LARDER_OK);
            CHILD_CHECK(set(many[lost], "k", "v") == LARDER_NO_CONFIGURATION && is(many[lost], "k", NULL));
            CHILD_CHECK(set(many[MANY], "of a child", "v") == LARDER_OK);
            _exit(0);
        }
        CHECK(exited_well(child) && epoch_of(many[1]) == epoch && is(many[MANY], "of a child", "v"));
    }
    close_many(MANY);
}

/* A child opens it as a configuration that its parent does not have, while all rows are taken. */
static void a_child_may_come_as_another(void) {
    CHECK(open_many(ROWS) && set(many[1], "k", "v") == LARDER_OK);
    pid_t child = fork_child();
    if (child == 0) {
        larder *mine = open_as(100);
        CHILD_CHECK(set(mine, "k", "child's") == LARDER_OK && is(mine, "k", "child's") && is(many[1], "k", NULL));
        _exit(0);
    }
    CHECK(exited_well(child) && is(many[1], "k", NULL) && set(many[1], "k", "w") == LARDER_OK);
    close_many(ROWS);
}

static void a_child_is_of_its_parents_configuration(void) {
    CHECK(open_many(2) && set(many[1], "k", "v") == LARDER_OK);
    pid_t child = fork_child();
    if (child == 0) {
        CHILD_CHECK(is(many[1], "k", "v") && is(many[2], "k", NULL) && set(many[1], "k", "child's") == LARDER_OK);
        _exit(0);
    }
    CHECK(exited_well(child) && is(many[1], "k", "child's") && is(many[2], "k", NULL));
    close_many(2);
}

/* Handles that are opened before the file is there get rows when it is. */
static void later_attachment_takes_rows(void) {
    larder *late[2];
    larder_error error;
    larder_options options = {.size_bytes = SIZE, .attach_later = 1};
    for (int i = 0; i < 2; i++) {
        options.configuration = 20 + (uint64_t)i;
        CHECK(larder_open(test_path("t.larder"), &options, &late[i], &error) == LARDER_OK);
        CHECK(set(late[i], "k", "v") != LARDER_OK);
    }
    CHECK(larder_attach(late[0], 1000, &error) == LARDER_OK && larder_attached(late[1]) == 1);
    CHECK(set(late[0], "k", "v") == LARDER_OK && is(late[0], "k", "v") && is(late[1], "k", NULL));
    CHECK(set(late[1], "k", "w") == LARDER_OK && is(late[1], "k", "w") && is(late[0], "k", NULL));
    larder_close(late[0]);
    CHECK(is(late[1], "k", "w"), "the other stays attached");
    larder_close(late[1]);
}

/* The row's words are flipped under processes that use it, and at rest for others: no other configuration believes
 * its records, and no value comes back that was cleared. */
static void a_flipped_bit_makes_no_other(void) {
    CHECK(open_many(3));
    for (unsigned bit = 0; bit < 64; bit++) {
        CHECK(set(many[1], "k", "v") == LARDER_OK && set(many[2], "l", "v") == LARDER_OK);
        unsigned row = 1;
        while (row < LARD_CONFIGURATIONS &&
               lard_load(&row_of(many[1], row)->digest) != lard_belief_mark(many[1]->belief, many[1]->core->map)) {
            row++;
        }
        CHECK(row < LARD_CONFIGURATIONS, "bit %u", bit);
        uint64_t mark = lard_load(&row_of(many[1], row)->digest);
        lard_store(&row_of(many[1], row)->digest, mark ^ 1ull << bit);
        CHECK(!__builtin_parityll(mark) && (mark ^ 1ull << bit) != 0, "a flipped mark has the other parity");
        pid_t child = fork_child();
        if (child == 0) {
            larder_error error;
            larder *fresh = open_as(50), *same = open_as(1);
            CHILD_CHECK(larder_attach(fresh, 1000, &error) == LARDER_OK);
            CHILD_CHECK(is(fresh, "k", NULL) && is(many[2], "k", NULL) && is(many[3], "k", NULL) &&
                        same == many[1]);
            _exit(0);
        }
        CHECK(exited_well(child) && is(many[2], "k", NULL) && is(many[3], "k", NULL));
        CHECK(larder_clear(many[1]) == LARDER_OK && set(many[1], "k", "v") == LARDER_OK && is(many[1], "k", "v"));
        CHECK(is(many[2], "k", NULL) && is(many[3], "k", NULL) && sound(many[1]));
        for (unsigned r = 1; r < LARD_CONFIGURATIONS; r++) { /* so that the rows do not fill */
            lard_store(&row_of(many[1], r)->digest, 0);
        }
        CHECK(larder_clear(many[1]) == LARDER_OK);
    }
    close_many(3);
}

/* The process that frees the rows was killed in between: rows are ending, before or after the epoch has ended. */
static void an_ending_row_has_no_owner(void) {
    unsigned without;
    CHECK(open_many(ROWS) && set(many[1], "k", "v") == LARDER_OK);
    for (unsigned row = 1; row < LARD_CONFIGURATIONS; row++) {
        lard_store(&row_of(many[1], row)->digest, LARD_ROW_ENDING);
    }
    CHECK(is(many[1], "k", "v") && are_apart(ROWS, &without) && without == 0, "in the same epoch they go on");
    CHECK(larder_clear(many[1]) == LARDER_OK && are_apart(ROWS, &without) && without == ROWS);
    for (unsigned row = 1; row < LARD_CONFIGURATIONS; row++) {
        lard_store(&row_of(many[1], row)->digest, row % 2 ? 0 : LARD_ROW_ENDING); /* it comes so far */
    }
    CHECK(are_apart(ROWS, &without) && without == ROWS / 2,
          "a handle without a row takes one as soon as it is free");
    larder *next = open_as(9);
    CHECK(set(next, "k", "9") == LARDER_OK && is(next, "k", "9") && are_apart(ROWS, &without) && without == 1);
    larder_close(next);
    close_many(ROWS);
}

/* A process stores its trust just after its row was given away. */
static void trust_is_not_inherited(void) {
    CHECK(open_many(1) && larder_trust(many[1], 10000, NULL) == LARDER_OK && larder_trusted(many[1]) == LARDER_OK);
    lard_configuration *row = row_of(many[1], 1);
    uint64_t words[] = {lard_load(&row->trusted_ms), lard_load(&row->trusted_wall)};
    larder_clear(many[1]);
    lard_store(&row->digest, 0);
    larder *other = open_as(2);
    CHECK(set(other, "k", "v") == LARDER_OK);
    CHECK(lard_load(&row->digest) == lard_belief_mark(other->belief, other->core->map), "it has that row");
    lard_store(&row->trusted_ms, words[0]);
    lard_store(&row->trusted_wall, words[1]);
    CHECK(larder_trusted(other) == LARDER_MISS && larder_trust(other, 10000, NULL) == LARDER_OK);
    CHECK(larder_trusted(other) == LARDER_OK && larder_trusted(many[1]) == LARDER_MISS);
    larder_close(other);
    close_many(1);
}

/* More configurations than there is room for come and go, store, clear and read. Each value names its own. */
static void come_and_go(void *with) {
    enum { TURNS = 250, KINDS = 12, KEYS = 6 };
    uint64_t state = *(const uint64_t *)with;
    for (int turn = 0; turn < TURNS; turn++) {
        char key[16], value[16];
        unsigned kinds[2] = {(unsigned)(next_random(&state) % KINDS), (unsigned)(next_random(&state) % KINDS)};
        larder *mine[2] = {open_as(kinds[0]), open_as(kinds[1])};
        for (int i = 0; i < 60; i++) {
            uint64_t chance = next_random(&state);
            int which = (int)(chance >> 8) & 1;
            snprintf(key, sizeof key, "key %u", (unsigned)(chance >> 16) % KEYS);
            snprintf(value, sizeof value, "of %u", kinds[which]);
            larder_status status = chance % 4 ? LARDER_OK : set(mine[which], key, value);
            CHILD_CHECK(status == LARDER_OK || status == LARDER_NO_CONFIGURATION);
            const char *have = get(mine[which], key);
            CHILD_CHECK(!have || strcmp(have, value) == 0);
            CHILD_CHECK(chance % 301 || larder_clear(mine[which]) == LARDER_OK);
        }
        larder_close(mine[0]);
        larder_close(mine[1]);
    }
}

static void many_come_and_go_at_once(void) {
    pid_t children[4];
    larder *none = open_as(0);
    CHECK(set(none, "first", "v") == LARDER_OK);
    larder_close(none); /* each child opens the file for itself */
    for (uint64_t i = 0; i < 4; i++) {
        children[i] = fork_child();
        if (children[i] == 0) {
            come_and_go(&i);
            _exit(0);
        }
    }
    for (int i = 0; i < 4; i++) {
        CHECK(exited_well(children[i]));
    }
    none = open_as(0);
    CHECK(sound(none));
    larder_close(none);
}

static const test_case tests[] = {
    TEST(seven_have_room, "seven configurations have room besides that of none"),
    TEST(the_eighth_clears, "the eighth clears the file and takes a row, those that are open take one again"),
    TEST(nine_do_not_clear_for_ever, "nine that are in use do not clear the file again and again"),
    TEST(one_without_a_row_removes, "a handle without a row misses, stores nothing and deletes"),
    TEST(a_lost_row_is_noticed, "a process whose row was given away notices at its next call"),
    TEST(children_do_not_clear, "a forked child does not clear the file for its parent's configuration"),
    TEST(a_child_may_come_as_another, "a forked child opens the file as an eighth configuration"),
    TEST(a_child_is_of_its_parents_configuration, "a forked child keeps the configurations of its parent"),
    TEST(later_attachment_takes_rows, "handles that attach later take their rows then"),
    TEST(a_flipped_bit_makes_no_other, "a flipped bit of a row makes no other configuration of it"),
    TEST(an_ending_row_has_no_owner, "rows that were left ending have no owner until the next process frees them"),
    TEST(many_come_and_go_at_once, "four processes of twelve configurations never read each other's values"),
    TEST(trust_is_not_inherited,
         "trust stored for a row that was given away is not trust of its next configuration"),
};
RUN("configuration rows", tests)
