# frozen_string_literal: true

# Checks that the engine stores to shared memory through the macros of shared.h alone. Reads the C sources: whatever
# could store otherwise (the word types' raw field, atomics, memcpy and its like, pointers made from a map, writes to a
# file) may stand only where the tables below say so; a new place has to be looked at and added.
#
# What types can tell, the compiler tells: `make -C engine stores` compiles the engine with words that are constant but
# for the macros. That every store is a numbered one at run time is shown by engine/test/shut_crash.c.
#
# Run as a program: ruby rakelib/house/stores.rb [DIRECTORY]

require_relative "environment"

module House
  # The tables and the reading of sources against them.
  class Stores
    # Private memory that these functions may write to, by their first argument.
    PRIVATE = {
      "crc.c" => ["own + i * 8"],
      "crc_fold.c" => ["own + word * 8", "folded"],
      "crc.h" => ["to", "out", "out + bytes - 8"],
      "evict.c" => ["key"],
      "sigbus.c" => ["&action"],
      "file.c" => ["error", "super->lock_id", "super->seed"],
      "put.c" => ["extension.tags"],
      "cas.c" => ["extension.tags"],
      "hints_file.c" => ["header.file_id"],
      "page.c" => ["pages"],
      "simulate.c" => ["shadow"],
      "format.c" => ["super", "super->magic", "plan.seed", "plan.file_id", "plan.lock_id"],
      "attach.c" => ["error"],
      "attachment.c" => ["error"],
      "open.c" => ["cache->path", "error"],
      "enter.c" => ["error"],
      "estimate.c" => ["sizes"],
      "hash.h" => ["&words"],
      "word.h" => ["&word", "&four", "&two"],
      "validate.c" => ["pages", "facts", "&facts->copies[0]", "&facts->copies[1]", "&facts->control",
                       "chunk + (LARD_CONTROL_OFFSET - at)"],
      "bytelock.c" => ["&lock"],
      "lockfile.c" => ["id", "content", "content->magic"],
      "memory_limit.c" => ["text"],
      "pending.c" => ["copy"],
      "place.c" => ["directory"],
      "boot.c" => ["text"],
      "lookup.c" => ["out"],
      "record.c" => ["(unsigned char *)out + i * 8"],
      "resize.c" => ["&bytes", "error"],
      "scan.c" => ["entry", "entry + 4", "entry + 4 + details_bytes"],
      "stats.c" => ["stats"],
      "usage.c" => ["keyspace->name", "keys[i].key", "error", "usage", "name"]
    }.freeze

    # Words outside the file that are changed atomically: of handles, of this process's copy of the index, and hints.
    PRIVATE_WORDS = [
      "&cache->stuck[shard]", "&cache->stuck[view->number]", "stuck", "&cache->map", "&cache->fork_number",
      "&cache->next_look_ms", "&cache->next_touch_ms", "&cache->store_count", "&cache->store_ms", "&cache->slot",
      "&cache->incarnation", "&cache->counters", "&cache->next_value_id", "&copy->pages[p]",
      "&copy->epoch", "&copy->shape", "&renewal->renewing", "&cache->counted_ms", "&cache->lived", "&guarded[i].map",
      "&guarded[i].base", "&guarded[i].bytes", "&questions", "&map->fd", "&view->map->unadvised", "word",
      "byte", "&hints->sampled",
      "&hints->heard[end % LARD_HEARD]", "&hints->heard_end", "&shadow->score", "&map->reads_mask",
      "&map->hints_checked_ms", "&map->dircache[shard].hints", "&header_of(map)->words", "map->rows_reserved",
      "&reads[i]", "&belief->word",
      "&cache->until_read", "&cache->existing",
      "&cache->core->next_look_ms"
    ].freeze

    # Files of this folder store to private memory and to a file of their own. They may not name a map.
    APART = "usage"
    MAPS = /\blard_(?:map|view|shard|control|superblock)\b|[>.]map\b/

    # Where pointers into a map are made, and words are not stored to through them: the lines, without blanks around.
    POINTERS = {
      "advice.c" => [
        "posix_madvise(map->base + from, to - from, advice);",
        "madvise(view->map->base + from, to - from, MADV_POPULATE_READ);",
        "return to <= round_up(map->bytes) && lard_page_is_in_memory(map->base + from, to - from);"
      ],
      "bucket.h" => ["return (lard_bucket *)(view->base + view->map->super.data_offset) + " \
                     "(((segment - page) << shift) + number);"],
      "sigbus.c" => [
        "map->poisoned |= base == map->base;"
      ],
      "map.c" => [
        "map->base = base;", "map->control = (lard_control *)(map->base + LARD_CONTROL_OFFSET);",
        "map->processes = (lard_process *)(map->base + LARD_PROCESS_OFFSET);",
        "map->shards = map->base + super->shard_offset;", "munmap(map->base, map->bytes);",
        "larder_status status = lard_sigbus_guard(map, map->base, map->bytes, path, error);"
      ],
      "use.c" => [
        "static int sync_control(lard_map *map) { return lard_page_sync(map->base, LARD_CONTROL_OFFSET, LARD_PAGE); }",
        "if (lard_page_sync(map->base, 0, map->bytes) != 0) {"
      ],
      "open.c" => ["bool lost = is_last(cache, path) && lard_page_sync(map->base, 0, map->bytes) != 0;"],
      "page.c" => ["return msync(base + (from - before), bytes + before, MS_SYNC) == 0 ? 0 : errno;"],
      "view.h" => [
        "view.base = map->shards + (size_t)number * map->super.shard_bytes;", "view.header = (lard_shard *)view.base;",
        "view.directory = (lard_u32 *)(view.base + map->super.directory_offset);",
        "view.segments = (lard_segment *)(view.base + map->super.segment_table_offset);",
        "return (lard_u64 *)(view->base + offset);"
      ],
      "record.h" => ["const uint8_t *record = view->base + offset;"],
      "index.c" => ["__builtin_prefetch(view->base + offset);",
                    "__builtin_prefetch(view->base + offset + LARD_RECORD_HEADER + 16);"]
    }.freeze

    # The stores outside the macros, both to the hints: statistics, and the counts of reads.
    STATISTICS = "__atomic_store_n(LARD_RAW(counter), count, __ATOMIC_RELAXED);"

    # Where the raw field is read, or given to the kernel to wait on.
    RAW = {
      "count.h" => [STATISTICS],
      "shard.c" => ["lard_futex_wait(LARD_RAW(lock), word, sleep_ms);", "lard_futex_wake(LARD_RAW(lock));"],
      "validate.c" => [/control(?:\.|->)
                     (?:clear_epoch|boot_id\[[01]\]|inode\[[01]\]|superseded|clean|features|use|uptime_ms)
                     \.raw_(?!\s*[-+*|&^]?=[^=])/x]
    }.freeze

    # Casts to pointers that can store anything, by what is cast.
    CASTS = ["in", "map->control", "out + at", "spec->value + at", "out + i * 8", "buffer + *used",
             "buffer + *used + 4", "copy", "copies + shards", "(uintptr_t)in", "out + *got", "(uintptr_t)from",
             "copy->hints", "lard_reads_hints", "lard_reads_young", "map->spare", "parts[i]", "(uintptr_t)data",
             "(uintptr_t)body", "(uintptr_t)zeros"].freeze

    COPIES = /\b(?:__builtin_)?(?:memcpy|memmove|memset|strcpy|strncpy|strcat)
              \s*\(\s*((?:[^,()]|\([^()]*\))+),/x
    ATOMICS = /\b__atomic_(?:store|exchange|compare_exchange|fetch_\w+|add_fetch|sub_fetch|or_fetch|and_fetch|
                          test_and_set|clear)\w*\s*\(\s*([^,]+),/x
    POINTER = /(?:->|\.)base\b|\bmap->shards\b/
    WRITES = /\b(?:pwrite|pwritev|write|writev|ftruncate|fallocate|posix_fallocate|unlink|rename|link|symlink|mkdir|
                 lard_space_reserve|lard_space_release)\s*\(/x
    # Where these are wrapped by space.c, or no file's content is changed.
    WRAPPERS = { "space.c" => [/fallocate|ftruncate|lard_space_reserve|lard_space_release/],
                 "space.h" => [/lard_space_reserve|lard_space_release/] }.freeze
    CAST = /\((?:const\s)?(?:unsigned\s)?(?:u?int(?:8|16|32|64)_t|char|void|int|long|short|uintptr_t)\s\*+\)
            \s*((?:\([^()]*\))?[\w>.\-]+(?:\[[^\]]*\])?(?:\s[+]\s[*\w]+(?:\s[*+]\s\d+)*)?)/x
    OTHER_WAYS = /\b__sync_\w+|_Atomic\b|\bstdatomic\b|_mm\w*_(?:store|stream|maskmove)\w*|
                  \b(?:__)?asm(?:__)?\s+volatile(?!\(""\))/x
    VOLATILE = /\bvolatile\b(?! sig_atomic_t)/

    # @param root [String] of the repository
    def initialize(root = ROOT)
      @root = root
    end

    # @return [Array<String>] one line for each breach: file, line number, what is wrong
    def breaches
      sources.flat_map do |path|
        name = File.basename(path)
        next [] if ["shared.h", "crash.c"].include?(name)

        apart = File.basename(File.dirname(path)) == APART
        code(path).each_with_index.flat_map do |line, index|
          found = apart ? [map(line), raw(name, line), other(line)].compact : problems(name, line)
          found.map { |problem| "#{path.delete_prefix("#{@root}/")}:#{index + 1}: #{problem}" }
        end
      end
    end

    # @return [Array<String>] the engine's sources
    def sources
      Dir[File.join(@root, "engine/src/*/*.{c,h}")]
    end

    private

    # Lines without comments and strings; a statement that goes on stays on the line on which it begins.
    def code(path)
      text = File.read(path, encoding: "UTF-8").gsub(%r{/\*.*?\*/}m) { |comment| "\n" * comment.count("\n") }
      text.gsub(/"(?:[^"\\\n]|\\.)*"/, '""').lines.map(&:strip)
    end

    def problems(name, line)
      [copy(name, line), atomic(name, line), raw(name, line), pointer(name, line), cast(line), change(name, line),
       other(line)].compact
    end

    def map(line)
      "names a map: files of #{APART}/ store without numbers, so they may not see one" if MAPS.match?(line)
    end

    def other(line)
      found = line[OTHER_WAYS] || line[VOLATILE]
      "#{found.inspect}: could store without a number" if found && !line.include?('asm__ volatile("")')
    end

    def cast(line)
      line.scan(CAST).flatten.each do |source|
        return "casts #{source} to a pointer that could store anything" unless CASTS.include?(source.strip)
      end
      nil
    end

    def copy(name, line)
      line.scan(COPIES).flatten.map(&:strip).each do |target|
        return "copies to #{target}: only private memory, which is in House::Stores::PRIVATE" unless
          PRIVATE.fetch(name, []).include?(target)
      end
      nil
    end

    def atomic(name, line)
      line.scan(ATOMICS).flatten.map(&:strip).each do |target|
        next if PRIVATE_WORDS.include?(target) || (name == "count.h" && line == STATISTICS)

        return "stores to #{target} by an atomic of its own: use lard_store and its like"
      end
      nil
    end

    def raw(name, line)
      return unless /raw_|LARD_RAW/.match?(line)

      rest = RAW.fetch(name, []).reduce(line) { |left, allowed| left.gsub(allowed, "") }
      "touches the raw field of a shared word" if /raw_|LARD_RAW/.match?(rest)
    end

    def pointer(name, line)
      return unless POINTER.match?(line)
      return if POINTERS.fetch(name, []).include?(line) || (name == "sigbus.c" && line.include?("guarded[i].base"))

      "makes a pointer into the map: #{line}"
    end

    def change(name, line)
      return unless WRITES.match?(line)
      return if line.include?("LARD_CHANGE(") || WRAPPERS.fetch(name, []).any? { |allowed| allowed.match?(line) }

      "changes a file without a number: use LARD_CHANGE"
    end
  end
end

if $PROGRAM_NAME == __FILE__
  breaches = House::Stores.new(*ARGV).breaches
  puts breaches
  exit breaches.empty?
end
