/*
 * session.h — what happens between a boot and the loss of power: lines of letters,
 * each a step. Owns the processes of a session; all have ended when it has.
 */
#ifndef LARD_PROOF_SESSION_H
#define LARD_PROOF_SESSION_H

#include "truth.h"

extern unsigned long lard_crash_at, lard_crash_count;

/*
 * O  open                      C  close
 * W  stores, deletes, counts   F  stores that evict           X  clear
 * K  a forked child works and is killed before one of its stores
 * f  fork a child, which does nothing as yet
 * w  the child works           c  the child closes            k  the child is killed
 * d  the child loses its descriptors, and deletes
 * R  the cache file is removed by hand     L  its lock file is
 * I  the next sync fails       U  the boot id cannot be read  u  it can again
 */
static const struct {
    const char *steps, *what;
} scripts[] = {
    {"OWW", "never closed"},
    {"OWC", "closed cleanly"},
    {"OWCOWW", "closed cleanly, opened again and changed"},
    {"OWCOWCOW", "closed twice, opened a third time"},
    {"OWCOX", "cleared after a clean close"},
    {"OFFWC", "evicting, then closed"},
    {"OFWCOFW", "evicting before and after a clean close"},
    {"OWKWC", "a writer killed, the other closes cleanly"},
    {"OWKCOKW", "writers killed before and after a clean close"},
    {"OWfwCww", "a child goes on after its parent has closed"},
    {"OWfCww", "a child begins after its parent has closed"},
    {"OWfCwck", "parent, then child close"},
    {"OWfCdd", "a child without descriptors deletes after a clean close"},
    {"OWfwCcOWW", "the child closes last"},
    {"OWfwkC", "the child was killed before its parent closes"},
    {"OWCLOWW", "the lock file removed after a clean close"},
    {"OWCROWW", "the cache removed after a clean close"},
    {"OWROWWC", "the cache removed while it is open"},
    {"OWfwRWwCwc", "the cache removed while two use it"},
    {"OWLWCOW", "the lock file removed while it is open"},
    {"UOWC", "no boot id at creation"},
    {"OWCUOWW", "no boot id when it is opened again"},
    {"UOWCOWWuOW", "no boot id, then one"},
    {"OWICOWW", "the sync of a close fails"},
    {"OWCIOOWW", "the sync of a reopening fails, the next one does not"},
    {"OWCIOOWWC", "the same, and closed"},
    {"OWCOWICOC", "the sync of a close fails, and nothing is changed before the next"},
    {"OWICOWC", "the sync of a close fails, that of the next close does not"},
};

static larder *mine;
static int command_pipe[2], answer_pipe[2];
static pid_t child_pid;
static bool child_attached;

static void begin_book(uint64_t seed) {
    memset(book, 0, offsetof(truth, operations));
    book->state = seed;
}

static void work(larder *cache, int times) {
    for (int i = 0; i < times; i++) {
        uint64_t random = next_random(&book->state);
        int key = (int)(random >> 40) % FIRST_COUNTER;
        switch (random % 8) {
        case 0:
        case 1:
            delete_one(cache, key);
            break;
        case 2:
        case 3:
            count_one(cache, FIRST_COUNTER + key % (KEYS - FIRST_COUNTER));
            break;
        default:
            store_one(cache, key);
        }
    }
}

static void fill_up(larder *cache) {
    char name[32];
    static unsigned char value[3000];
    for (int i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "filler %llu", (unsigned long long)++book->stamps);
        set_bytes(cache, name, value, sizeof value, 0);
    }
    disk_look();
}

static void lose_descriptors(void) {
    for (int fd = 3; fd < 256; fd++) {
        if (fd != command_pipe[0] && fd != answer_pipe[1]) {
            close(fd);
        }
    }
}

static void obey(void) {
    char step;
    while (read(command_pipe[0], &step, 1) == 1) {
        if (step == 'w') {
            work(mine, 8);
        } else if (step == 'd') {
            lose_descriptors();
            for (int key = 0; key < FIRST_COUNTER; key += 2) {
                delete_one(mine, key);
            }
        } else if (step == 'c') {
            larder_close(mine);
            mine = NULL;
        }
        if (write(answer_pipe[1], &step, 1) != 1 || step == 'c') {
            break;
        }
    }
    _exit(0);
}

static bool fork_the_child(void) {
    if (pipe(command_pipe) != 0 || pipe(answer_pipe) != 0) {
        return false;
    }
    child_pid = fork_child();
    if (child_pid == 0) {
        close(command_pipe[1]);
        close(answer_pipe[0]);
        obey();
    }
    close(command_pipe[0]);
    close(answer_pipe[1]);
    return true;
}

static void end_the_child(void) {
    if (child_pid > 0) {
        kill(child_pid, SIGKILL);
        wait_for(child_pid);
        close(command_pipe[1]);
        close(answer_pipe[0]);
    }
    child_pid = 0;
    child_attached = false;
}

static bool tell(char step) {
    if (child_pid <= 0) {
        return true;
    }
    char answer;
    bool done = write(command_pipe[1], &step, 1) == 1 && read(answer_pipe[0], &answer, 1) == 1;
    child_attached = step == 'w' || (step == 'd' && child_attached);
    if (step == 'c') {
        end_the_child();
    }
    return done;
}

static void look_what_is_there(bool present[KEYS]) {
    for (int key = 0; key < KEYS; key++) {
        present[key] = stamp_of(mine, key) != 0;
    }
}

static bool failing, orphaned; /* a sync was made to fail; the file may not be the one at its path */

static void open_mine(void) {
    larder_error error;
    larder_options options = {.size_bytes = 1 << 20};
    if (!mine && larder_open(disk_path(NAME_CACHE), &options, &mine, &error) != LARDER_OK && !failing) {
        fprintf(stderr, "  open: %s\n", error.detail);
    }
}

static void close_mine(void) {
    bool present[KEYS];
    if (!mine) {
        return;
    }
    look_what_is_there(present);
    larder_close(mine);
    mine = NULL;
    if (!child_attached && !failing && !orphaned) {
        keeping_begins(present);
    }
}

static void work_and_be_killed(void) {
    pid_t pid = fork_child();
    if (pid == 0) {
        lard_crash_count = 0;
        lard_crash_at = next_random(&book->state) % 300 + 1;
        work(mine, 12);
        _exit(0);
    }
    wait_for(pid);
}

static bool take_step(char step) {
    if (strchr("OwdRLck", step)) {
        disk_look();
        keeping_ends();
    }
    switch (step) {
    case 'O':
        open_mine();
        return mine || failing;
    case 'C':
        close_mine();
        return true;
    case 'W':
        mine ? work(mine, 14) : (void)0;
        return true;
    case 'F':
        mine ? fill_up(mine) : (void)0;
        return true;
    case 'X':
        mine ? clear_all_keys(mine) : (void)0;
        return true;
    case 'K':
        mine ? work_and_be_killed() : (void)0;
        return true;
    case 'f':
        return child_pid > 0 || !mine || fork_the_child();
    case 'k':
        end_the_child();
        return true;
    case 'R':
    case 'L':
        orphaned = orphaned || mine || child_pid > 0;
        disk_unlink(step == 'R' ? NAME_CACHE : NAME_LOCK);
        sleep_us(250000); /* that long it may take until a live process sees it: larder.h */
        return true;
    case 'I':
        failing = true;
        disk_fail_syncs(0, 1);
        return true;
    case 'U':
    case 'u':
        disk_boot = step == 'U' ? -abs(disk_boot) : abs(disk_boot);
        return true;
    default:
        return tell(step);
    }
}

static void take_steps(const char *steps) {
    for (; *steps; steps++) {
        if (!take_step(*steps)) {
            fprintf(stderr, "  step %s\n", steps);
            _exit(1);
        }
    }
    disk_look();
    end_the_child();
    _exit(0);
}

/* Plays a session in processes of its own. */
static bool play(const char *steps) {
    pid_t pid = fork_child();
    if (pid == 0) {
        take_steps(steps);
    }
    int status = wait_within(pid, LONGEST_MS);
    disk_boot = strchr(steps, 'U') && !strchr(steps, 'u') ? -abs(disk_boot) : disk_boot;
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A session by chance. Removals by hand are rarer: they take time. */
static const char *make_session(char *out, size_t bytes, uint64_t *state) {
    static const char letters[] = "OOOWWWWCCCCKFXfwwwckdIUuOWCW";
    size_t length = 4 + next_random(state) % 9;
    out[0] = 'O';
    out[1] = 'W';
    for (size_t i = 2; i < length && i + 1 < bytes; i++) {
        uint64_t random = next_random(state);
        out[i] = random % 24 == 0 ? (random >> 8 & 1 ? 'R' : 'L') : letters[(random >> 8) % (sizeof letters - 1)];
    }
    out[length] = '\0';
    return out;
}

#endif
