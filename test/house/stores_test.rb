# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require_relative "../../rakelib/house/stores"

module House
  # That a store to shared memory outside the macros of shared.h fails the build: by the compiler where types can tell,
  # by House::Stores where they cannot.
  class StoresTest < ActiveSupport::TestCase
    # The body of a function that has a shard (`view`), a map (`map`) and a word (`word`).
    REFUSED_BY_THE_COMPILER = {
      "an assignment" => "view->header->lock = 5;",
      "an assignment of a word to a word" => "view->header->lock = view->header->closed[0];",
      "an assignment of a row" => "view->segments[0] = view->segments[1];",
      "an assignment of a bucket" => "lard_bucket *b = lard_bucket_at(view, 0); b[0] = b[1];",
      "an assignment to the raw field" => "view->header->lock.raw_ = 5;",
      "an increment of the raw field" => "map->control->clear_epoch.raw_++;"
    }.freeze

    REFUSED_BY_THE_READER = {
      "a copy into the shard" => "memcpy(view->head, map, 8);",
      "a copy into a map" => "memcpy(map->base, view, 8);",
      "zeros into a row" => "memset(&view->segments[0], 0, sizeof(lard_segment));",
      "a builtin copy" => "__builtin_memcpy(word, map, 8);",
      "a store by an atomic" => "__atomic_store_n((uint32_t *)view->head, 5, __ATOMIC_RELAXED);",
      "an atomic store to the raw field" => "__atomic_store_n(&word->raw_, 5, __ATOMIC_RELAXED);",
      "an atomic addition to the raw field" => "__atomic_fetch_add(&word->raw_, 5, __ATOMIC_RELAXED);",
      "an exchange by an atomic" => "__atomic_exchange_n(&word->raw_, 5, __ATOMIC_SEQ_CST);",
      "an older atomic" => "__sync_fetch_and_add(&word->raw_, 5);",
      "the macros' own way in" => "*LARD_RAW(word) = 5;",
      "a byte of the map" => "map->base[8192] = 1;",
      "a cast of a word" => "*(uint64_t *)word = 5;",
      "a cast of a shard" => "*(uint32_t *)view->head = 5;",
      "a volatile pointer" => "volatile uint64_t *at = other(word);",
      "a wide store" => "_mm_store_si128(other(word), zero);",
      "an instruction" => '__asm__ volatile("movq $5, (%0)" : : "r"(word));',
      "a write to the file" => "pwrite(map->fd, map, 8, 0);",
      "a removal of the file" => "unlink(path);"
    }.freeze

    ALLOWED = {
      "a store by the macro" => "lard_store(word, 5);",
      "a compare-and-swap" => "uint64_t is = 5; lard_cas64(word, &is, 6);",
      "a load" => "uint64_t is = lard_load(word); (void)is;"
    }.freeze

    REFUSED_BY_THE_COMPILER.each do |what, statement|
      test "#{what} to shared memory does not compile" do
        assert_empty syntax("lard_store(word, 5);"), "the sample around it is sound"
        refute_empty syntax(statement)
      end
    end

    REFUSED_BY_THE_READER.each do |what, statement|
      test "#{what} in an engine's source is refused" do
        refute_empty read_in("segment.c", statement)
      end
    end

    ALLOWED.each do |what, statement|
      test "#{what} is let pass" do
        assert_empty syntax(statement)
        assert_empty read_in("segment.c", statement)
      end
    end

    test "statistics are let pass where they are counted and nowhere else" do
      assert_empty read_in("count.h", Stores::STATISTICS)
      refute_empty read_in("segment.c", Stores::STATISTICS)
    end

    test "files that store without numbers may not name a map" do
      assert_empty read_in("fold.c", "memset(group, 0, sizeof *group);", folder: "usage")
      refute_empty read_in("fold.c", "memset(cache->map->base, 0, 8);", folder: "usage")
      refute_empty read_in("fold.c", "lard_view view;", folder: "usage")
    end

    test "the engine stores to shared memory through the macros alone" do
      stores = Stores.new
      assert_operator stores.sources.size, :>, 20
      assert_empty stores.breaches
    end

    test "the engine compiles with words that are constant but for the macros" do
      Dir.mktmpdir do |directory|
        output, status = Open3.capture2e("make", "-s", "-C", File.join(ROOT, "engine"), "stores", "BUILD=#{directory}")
        assert_predicate status, :success?, output
      end
    end

    private

    # What the compiler has to say of a function with that statement, "" for nothing.
    def syntax(statement)
      source = <<~C
        #include "file/view.h"
        #include <string.h>
        void sample(lard_view *view, lard_map *map, lard_u64 *word);
        void sample(lard_view *view, lard_map *map, lard_u64 *word) {
            (void)view, (void)map, (void)word;
            #{statement}
        }
      C
      output, status = Open3.capture2e("cc", "-std=c11", "-DLARDER_CONSTANT_WORDS", "-fsyntax-only", "-w",
                                       "-I#{File.join(ROOT, "engine/include")}", "-I#{File.join(ROOT, "engine/src")}",
                                       "-xc", "-", stdin_data: source)
      status.success? ? "" : output
    end

    # What Stores has to say of a source of that name with that statement.
    def read_in(name, statement, folder: "base")
      Dir.mktmpdir do |root|
        FileUtils.mkdir_p(File.join(root, "engine/src", folder))
        text = "/* a sample: unlink(path); */\nvoid f(void) {\n    #{statement}\n}\n"
        File.write(File.join(root, "engine/src", folder, name), text)
        Stores.new(root).breaches
      end
    end
  end
end
