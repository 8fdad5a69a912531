/*
 * power.c — the power fails: whatever subset of its pages, lengths and names a disk
 * holds then, after the next boot the cache is empty or right, and after a clean
 * close it is whole.
 *
 * Sessions are lines of letters, each a step (see `steps`). Every store and sync of
 * a session is recorded (disk.c), images of the disk are made for moments of it
 * (image.c), and each is opened under another boot id and held against the truth
 * (truth.h). Then the disk is made to lie, in several ways: the proof must notice.
 *
 *   power [IMAGES] [SESSIONS] [SEED]
 */
#include "session.h"

static uint64_t images, discarded, right, whole, failures_shown, violations;
static char trial[300];

static void remove_directory(const char *path) {
    char command[500];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    if (system(command) != 0) {
        fprintf(stderr, "could not remove %s\n", path);
    }
}

typedef struct {
    const char *session;
    dishonesty how;
    uint32_t at;
    image_plan plan;
} attempt;

static void complain(const attempt *try, const char *what, int key, uint64_t stamp) {
    violations++;
    if (try->how == HONEST && failures_shown++ < 3) {
        fprintf(stderr, "  %s, power lost at %u, image %d seed %llu odd %d: %s (%s: %llu)\n", try->session,
                try->at, (int)try->plan.kind, (unsigned long long)try->plan.random, try->plan.odd_page, what,
                key >= 0 ? key_name(key) : "-", (unsigned long long)stamp);
    }
}

/* Everything there is right, or gone; where it was closed cleanly, it is all there. */
static void judge(const attempt *try, larder *cache, const larder_error *error, bool fresh) {
    const kept *window = kept_at(try->at);
    int hits = 0;
    if (!cache) {
        complain(try, error->detail, -1, error->status);
        return;
    }
    for (int key = 0; key < KEYS; key++) {
        uint64_t stamp = stamp_of(cache, key);
        hits += stamp != 0;
        if (!may_be(key, stamp, try->at)) {
            complain(try, stamp == UINT64_MAX ? "a value that never was" : "an old value is back", key, stamp);
        } else if (window && window->present[key] && !stamp) {
            complain(try, "closed cleanly, and yet it is gone", key, 0);
        }
    }
    if (!fresh) {
        return;
    }
    larder_report report;
    if (larder_verify(cache, &report) != LARDER_OK || report.problems) {
        complain(try, report.first, -1, report.problems);
    }
    if (set(cache, "afterwards", "written") != LARDER_OK || !is(cache, "afterwards", "written")) {
        complain(try, "it cannot be written to", -1, 0);
    }
    discarded += !hits;
    right += hits > 0;
    whole += window != NULL;
}

static void open_image(attempt *try) {
    char path[400];
    larder *cache = NULL;
    larder_error error;
    larder_options options = {.size_bytes = 1 << 20};
    images++;
    if (!disk_make(try->at, &try->plan, trial)) {
        perror(trial);
        exit(1);
    }
    snprintf(path, sizeof path, "%s/t.larder", trial);
    larder_open(path, &options, &cache, &error);
    judge(try, cache, &error, true);
    larder_close(cache);
}

/* Superblocks, control page and names, each promised or latest, the rest all three ways. */
static void all_subsets(attempt try, uint64_t *state) {
    static const image_kind rest[] = {IMAGE_PROMISED, IMAGE_LATEST, IMAGE_ANY};
    for (unsigned subset = 0; subset < 96; subset++) {
        try.plan = disk_plan(rest[subset / 32], next_random(state));
        for (int i = 0; i < 5; i++) {
            *(i < 3 ? &try.plan.fixed_pages[i] : &try.plan.names[i - 3]) = (int)(subset >> i & 1);
        }
        open_image(&try);
    }
}

/* One page is newer than all others, or older. */
static void each_page_alone(attempt try) {
    for (int page = 0; page < DISK_PAGES; page++) {
        for (int kind = IMAGE_PROMISED; disk_page_has_choice(try.at, page) && kind <= IMAGE_LATEST; kind++) {
            try.plan = disk_plan((image_kind)kind, 1);
            try.plan.odd_page = page;
            open_image(&try);
        }
    }
}

/* Mostly around something of note, and otherwise any time. */
static uint32_t some_time(uint64_t *state) {
    static uint32_t moments[4096];
    size_t count = disk_moments(moments, 4096);
    uint64_t random = next_random(state);
    uint32_t at = disk_first() + (uint32_t)(next_random(state) % (disk_now() - disk_first() + 1));
    if (random % 8 == 0) {
        return disk_now();
    }
    if (count && random % 8 < 5) {
        at = moments[(random >> 16) % count] + (uint32_t)(random >> 8) % 5 - 2;
    }
    return at < disk_first() ? disk_first() : at > disk_now() ? disk_now() : at;
}

static void attack(const char *session, dishonesty how, uint64_t most, uint64_t *state) {
    uint64_t until = images + most;
    attempt try = {.session = session, .how = how};
    int boot = disk_boot;
    disk_boot = boot < 0 ? boot : boot + 1;
    for (int i = 0; i < 3 && most >= 400; i++) {
        try.at = some_time(state);
        i == 0 ? each_page_alone(try) : all_subsets(try, state);
    }
    while (images < until) {
        try.at = some_time(state);
        try.plan = disk_plan((image_kind)(next_random(state) % IMAGE_KINDS), next_random(state));
        open_image(&try);
    }
    disk_boot = boot;
}

/* The machine goes on with one of the images, to fail again. */
static bool go_on(uint64_t *state, char *directory, size_t bytes) {
    uint32_t at = some_time(state);
    image_plan plan = disk_plan((image_kind)(next_random(state) % IMAGE_KINDS), next_random(state));
    snprintf(directory, bytes, "%s/next-XXXXXX", test_directory);
    if (!mkdtemp(directory) || !disk_make(at, &plan, directory)) {
        return false;
    }
    carry_over(at);
    disk_boot = abs(disk_boot) + 1;
    return true;
}

static void one_life(const char *session, dishonesty how, int boots, uint64_t most, uint64_t seed) {
    char directory[400], random_session[64];
    uint64_t state = seed;
    snprintf(directory, sizeof directory, "%s/first-XXXXXX", test_directory);
    if (!mkdtemp(directory)) {
        perror(directory);
        exit(1);
    }
    begin_book(seed);
    disk_boot = 1;
    for (int boot = 0; boot < boots; boot++) {
        disk_start(directory);
        disk_be(how);
        if (!play(session)) {
            violations += how == HONEST;
            fprintf(stderr, "  session %s did not end well\n", session);
        }
        disk_stop();
        attack(session, how, most, &state);
        remove_directory(directory);
        if (boot + 1 < boots && !go_on(&state, directory, sizeof directory)) {
            perror("the next boot");
            exit(1);
        }
        session = boot + 1 < boots ? make_session(random_session, sizeof random_session, &state) : session;
    }
}

/* Sessions in which each lie must show. */
static bool is_found_out(dishonesty how) {
    static const char *const telling[DISHONESTIES] = {[FORGETS_DATA] = "OWC",
                                                      [FORGETS_REOPENING] = "OWCOWW",
                                                      [FORGETS_NAMES] = "OWCLOWW",
                                                      [FORGETS_MARK] = "OWC"};
    uint64_t before = violations;
    for (uint64_t seed = 1; seed <= 8 && violations == before; seed++) {
        one_life(telling[how], how, 1, 200, seed);
    }
    bool found = violations > before;
    violations = before;
    return found;
}

static uint64_t argument(int argc, char **argv, int which, uint64_t otherwise) {
    return argc > which ? strtoull(argv[which], NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    uint64_t each = argument(argc, argv, 1, 150), more = argument(argc, argv, 2, 20),
             seed = argument(argc, argv, 3, 1);
    uint64_t synced = 0, versions = 0, sessions = 0, lies = 0;
    char session[64];
    snprintf(test_directory, sizeof test_directory, "%s/larder-power-XXXXXX", base);
    if (!mkdtemp(test_directory)) {
        perror(test_directory);
        return 1;
    }
    snprintf(trial, sizeof trial, "%s/trial", test_directory);
    if (mkdir(trial, 0700) != 0) {
        perror(trial);
        return 1;
    }
    book = shared_memory(sizeof *book);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++, sessions++) {
        uint64_t before = violations;
        failures_shown = 0;
        one_life(scripts[i].steps, HONEST, 1, each * 4, seed + i);
        synced += disk_syncs();
        versions += disk_versions();
        printf("%-14s %s%s\n", scripts[i].steps, scripts[i].what, violations > before ? ": FAILED" : "");
        fflush(stdout);
    }
    for (uint64_t state = seed * 7919; more; more--, sessions++) {
        one_life(make_session(session, sizeof session, &state), HONEST, 3, each, next_random(&state));
        synced += disk_syncs();
        versions += disk_versions();
    }
    uint64_t honest_images = images, honest_discarded = discarded, honest_right = right, honest_whole = whole;
    for (int how = HONEST + 1; how < DISHONESTIES; how++) {
        bool found = is_found_out((dishonesty)how);
        lies += found;
        if (!found) {
            fprintf(stderr, "  a disk that lies in way %d was not found out\n", how);
            violations++;
        }
    }
    remove_directory(test_directory);
    printf("@ %llu sessions of opens, stores, deletes, closes, forks and kills, each ended by a power loss\n"
           "@ %llu versions of pages that the disk was given to hold\n"
           "@ %llu promises of the disk (msync, fsync) that the engine asked for\n"
           "@ %llu disk images opened after the next boot, of any subset of pages, sectors, lengths and names\n"
           "@ %llu of them came up empty\n@ %llu of them came up with values, every one right\n"
           "@ %llu of them had been closed cleanly, and were whole\n"
           "@ %llu wrong, old or deleted values\n@ %llu kinds of disks that lie about a sync, all found out\n",
           (unsigned long long)sessions, (unsigned long long)versions, (unsigned long long)synced,
           (unsigned long long)honest_images, (unsigned long long)honest_discarded,
           (unsigned long long)honest_right, (unsigned long long)honest_whole, (unsigned long long)violations,
           (unsigned long long)lies);
    return violations ? 1 : 0;
}
