/*
 * cold.c — measures sets into pages that are new, were written back, or stay writable, with two floors.
 *
 *   build/bench-cold [--rounds N] [--seconds S] [--directory DIR] [--json]
 *
 * For each size of a value, on a file of 256 MiB, with keys that were not stored before:
 *
 * "new": a file that was just made is written through once.
 * "written back": it is written to the disk, and written through again. A cache is not hot then
 * (segment/segment.c), which the program says by a hint: it would take minutes to become cold.
 *
 * "hot": it is written through for the fourth time in a few seconds.
 *
 * A set that is not hot cannot take less than the bare bytes do in that state: "times hot and the lower floor"
 * compares it with both together. The floors append the same bytes to a file of the same size in the same states:
 * memcpy into a map, and pwrite(2). Processor time and page faults of a call; other processes and the disk do not
 * count. --seconds has no effect.
 */
#include "bench.h"

#define FILE_BYTES (256u << 20)
#define PART (FILE_BYTES / 2) /* bytes that a state is measured with */

enum { NEW, BACK, HOT, STATES };
enum { SET, COPY, WRITE, WAYS };
static const char *const states[] = {"new", "written back", "hot"};
static const char *const ways[] = {"set", "memcpy", "pwrite(2)"};
static const size_t sizes[] = {2000, 10000, 20000, 60000};

typedef struct {
    larder *cache;
    uint8_t *map;
    int fd;
    uint64_t number, at;
} place;

static unsigned char value[60000];

static void store(place *one, int way, size_t bytes) {
    char key[KEY_BYTES];
    if (way == SET) {
        bench_key(key, one->number++);
        larder_store item = {.key = key, .key_bytes = KEY_BYTES, .value = value, .value_bytes = bytes};
        larder_status status = larder_set(one->cache, &item, NULL);
        if (status != LARDER_OK) {
            bench_die("set: %s", larder_status_text(status));
        }
        return;
    }
    one->at = one->at + bytes > FILE_BYTES ? 0 : one->at;
    if (way == COPY) {
        memcpy(one->map + one->at, value, bytes);
    } else if (pwrite(one->fd, value, bytes, (off_t)one->at) != (ssize_t)bytes) {
        bench_die("pwrite: %s", strerror(errno));
    }
    one->at += bytes;
}

static void write_through(place *one, int way, size_t bytes, uint64_t total) {
    for (uint64_t done = 0; done < total; done += bytes) {
        store(one, way, bytes);
    }
}

static place begin(int way) {
    place one = {.fd = -1};
    if (way == SET) {
        one.cache = bench_open(bench_path("cold.larder"), FILE_BYTES);
        bench_fill(one.cache, 9999999, 10000000, 10); /* makes the file */
        return one;
    }
    one.fd = open(bench_path("cold"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (one.fd < 0 || posix_fallocate(one.fd, 0, FILE_BYTES) != 0) {
        bench_die("%s: no room", bench_path("cold"));
    }
    one.map = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, one.fd, 0);
    if (one.map == MAP_FAILED || madvise(one.map, FILE_BYTES, MADV_RANDOM) != 0) { /* as a cache has it */
        bench_die("mmap: %s", strerror(errno));
    }
    return one;
}

static void end(place *one) {
    if (one->cache) {
        larder_close(one->cache);
        unlink(bench_path("cold.larder"));
        unlink(bench_path("cold.larder.lock"));
        return;
    }
    munmap(one->map, FILE_BYTES);
    close(one->fd);
    unlink(bench_path("cold"));
}

static void write_back(const place *one) {
    int fd = one->cache ? open(bench_path("cold.larder"), O_RDWR | O_CLOEXEC) : one->fd;
    if (fd < 0 || fsync(fd) != 0) {
        bench_die("fsync: %s", strerror(errno));
    }
    if (one->cache) {
        close(fd);
    }
}

static void make_cold(const place *one) {
    lard_map *map = one->cache ? one->cache->core->map : NULL;
    for (uint32_t shard = 0; map && shard < map->super.shard_count; shard++) {
        map->dircache[shard].hints->is_hot = 0;
        map->dircache[shard].hints->turn_left = map->super.segments_per_shard; /* it stays so for a turn */
        map->dircache[shard].hints->turn_began_s = (uint32_t)(lard_clock_ms() / 1000);
    }
}

typedef struct {
    double us, faults;
} cost;

static void measure(int way, size_t bytes, cost costs[STATES]) {
    place one = begin(way);
    for (int state = 0; state < STATES; state++) {
        if (state != NEW) {
            write_through(&one, way, bytes, 2 * (uint64_t)FILE_BYTES);
        }
        if (state == BACK) {
            write_back(&one);
            make_cold(&one);
        }
        uint64_t cpu = bench_cpu_ns(), had = bench_faults();
        write_through(&one, way, bytes, PART);
        double calls = (double)(PART / bytes + 1);
        costs[state] =
            (cost){(double)(bench_cpu_ns() - cpu) / 1e3 / calls, (double)(bench_faults() - had) / calls};
    }
    end(&one);
}

int main(int argc, char **argv) {
    static double us[STATES][WAYS][MOST_ROUNDS], had[STATES][WAYS][MOST_ROUNDS], to_hot[STATES][MOST_ROUNDS],
        to_parts[STATES][MOST_ROUNDS];
    char name[120];
    bench_read_options(argc, argv, 5, 1,
                       "Sets into pages that are new, written back, or hot, compared with two floors.");
    bench_core_count();
    bench_make_directory();
    memset(value, 'v', sizeof value);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int r = 0; r < bench_given.rounds; r++) {
            for (int way = 0; way < WAYS; way++) {
                cost costs[STATES];
                measure(way, sizes[s], costs);
                for (int state = 0; state < STATES; state++) {
                    us[state][way][r] = costs[state].us;
                    had[state][way][r] = costs[state].faults;
                }
            }
            for (int state = 0; state < STATES; state++) {
                double floor = us[state][COPY][r] < us[state][WRITE][r] ? us[state][COPY][r] : us[state][WRITE][r];
                to_hot[state][r] = us[state][SET][r] / us[HOT][SET][r];
                to_parts[state][r] = us[state][SET][r] / (us[HOT][SET][r] + floor);
            }
        }
        bench_heading("%zu bytes", sizes[s]);
        for (int state = 0; state < STATES; state++) {
            for (int way = 0; way < WAYS; way++) {
                snprintf(name, sizeof name, "%zu bytes, %s, %s", sizes[s], states[state], ways[way]);
                bench_figure(name, "us", us[state][way], bench_given.rounds);
                snprintf(name, sizeof name, "%zu bytes, %s, %s: page faults", sizes[s], states[state], ways[way]);
                bench_figure(name, "", had[state][way], bench_given.rounds);
            }
            snprintf(name, sizeof name, "%zu bytes, %s: times hot", sizes[s], states[state]);
            bench_figure(name, "", to_hot[state], bench_given.rounds);
            if (state != HOT) {
                snprintf(name, sizeof name, "%zu bytes, %s: times hot and the lower floor", sizes[s],
                         states[state]);
                bench_figure(name, "", to_parts[state], bench_given.rounds);
            }
        }
    }
    return 0;
}
