# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "tmpdir"
require_relative "../../rakelib/house/layers"

module House
  # The dependency rule, on this repository and on small ones that break it.
  class LayersTest < ActiveSupport::TestCase
    setup do
      @root = Dir.mktmpdir("larder-layers")
      write "engine/include/larder.h", "#include <stdint.h>\n"
      write "engine/src/base/types.h", %(#include "larder.h"\n#include "base/layout.h"\n)
      write "engine/src/base/layout.h", ""
      write "ext/larder/glue.h", %(#include "larder.h"\n#include <ruby.h>\n)
      write "lib/larder/bytes/cache.rb", "require \"larder/bytes/errors\"\n"
      write "lib/larder/bytes/errors.rb", ""
      write "lib/larder/store/reading.rb", "require \"larder/bytes/cache\"\nActiveSupport::Cache\n"
      write "lab/lib/larder/lab/runner.rb", "require \"active_support\"\nrequire \"larder/store/reading\"\n"
    end

    teardown { FileUtils.rm_rf(@root) }

    test "this repository keeps the rule" do
      layers = Layers.new
      assert_empty layers.breaches
      assert_operator layers.files.size, :>, 20
    end

    test "a tree that keeps the rule has no breach" do
      assert_empty breaches
    end

    test "the engine may not include Ruby" do
      write "engine/src/api/cache.c", "\n#include <ruby.h>\n"
      assert_equal ["engine/src/api/cache.c:2: the engine includes ruby.h; it must build without Ruby"], breaches
    end

    test "the engine may not include a file outside engine" do
      write "engine/src/api/cache.c", %(#include "../../ext/larder/glue.h"\n)
      assert_match(/which is not in engine/, breaches.sole)
    end

    test "a file of the engine may not include a header of a layer above it" do
      write "engine/src/index/index.h", ""
      write "engine/src/file/map.c", %(#include "base/types.h"\n#include "index/index.h"\n)
      assert_equal ["engine/src: file/map includes index/index.h, which is in a layer above it"], breaches
    end

    test "files of the engine may not include each other in a circle" do
      write "engine/src/item/read.h", ""
      write "engine/src/item/large.h", ""
      write "engine/src/item/read.c", %(#include "item/large.h"\n)
      assert_empty breaches
      write "engine/src/item/large.c", %(#include "item/read.h"\n)
      assert_equal ["engine/src: item/large, item/read include each other in a circle"], breaches
    end

    test "a shared function of the engine stands in the file of its name" do
      write "engine/src/item/read.c", "int lard_read(int key) {\n}\nint lard_read_all(void) {\n}\n"
      assert_empty breaches
      write "engine/src/item/read.c",
"bool lard_ready(int key,\n                int other) {\n}\nstatic int lard_any(void) {\n}\n"
      assert_equal ["engine/src: item/read.c: lard_ready has not the name of its file"], breaches
    end

    test "an inlined function of the engine stands in the header of its name, also in base" do
      write "engine/src/base/clock.h", "static inline int lard_clock_ms(void) {\n}\n#define A(x) {\n"
      assert_empty breaches
      write "engine/src/base/layout.h", "static inline uint64_t lard_slot(uint64_t offset,\n    int other) {\n}\n"
      write "engine/src/index/probe.h", "LARD_INLINE int probe_one(int slot) {\n}\n"
      assert_equal ["engine/src: base/layout.h: lard_slot has not the name of its file",
                    "engine/src: index/probe.h: probe_one has not the name of its file"], breaches
    end

    test "the operations on shared memory are named by themselves" do
      write "engine/src/base/shared.h", "static inline bool lard_cas32(int *p) {\n}\n"
      assert_empty breaches
    end

    test "a public function of the engine stands in api" do
      write "engine/src/api/get.c", "int larder_exists(void) {\n}\nLARD_INLINE int answer(void) {\n}\n"
      assert_empty breaches
      write "engine/src/handle/attach.c", "__attribute__((noinline)) int larder_attach(void) {\n}\n"
      assert_equal ["engine/src: handle/attach.c: larder_attach has not the name of its file"], breaches
    end

    test "an inlined function of the glue stands in the header of its name" do
      write "ext/larder/value/tree_again.h", "static inline int tree_again_add(void) {\n}\nstatic int seen(void) {\n}\n"
      write "ext/larder/value/tree_writer.h", "static inline void put(void) {\n}\n"
      write "ext/larder/cache/handle.h", "static inline int glue_of(void) {\n}\n"
      assert_equal ["ext/larder: value/tree_again.h: seen has not the name of its file"], breaches
    end

    test "a folder of the engine is a layer, and names of files are different" do
      write "engine/src/other/read.c", ""
      write "engine/src/item/read.c", ""
      assert_equal ["engine/src: other/ is not a layer: base, proc, usage, file, segment, index, evict, shard, item, " \
                    "handle, api",
                    "engine/src: item/read and other/read have the same name"], breaches
    end

    test "the folders of the glue are layers, and its files may not include each other in a circle" do
      write "ext/larder/value/plain.h", %(#include "cache/read.h"\n)
      write "ext/larder/cache/read.h", ""
      assert_equal ["ext/larder: value/plain includes cache/read.h, which is in a layer above it"], breaches
      write "ext/larder/value/plain.h", %(#include "value/tree.h"\n)
      write "ext/larder/value/tree.h", %(#include "value/plain.h"\n)
      assert_equal ["ext/larder: value/plain, value/tree include each other in a circle"], breaches
    end

    test "the glue may include the engine's public header only" do
      write "ext/larder/cache.c", %(#include "larder.h"\n#include "glue.h"\n#include "base/types.h"\n)
      assert_match(%r{\Aext/larder/cache.c:3: the glue includes base/types.h}, breaches.sole)
    end

    test "the glue may not reach the engine's private headers by a path" do
      write "ext/larder/cache.c", %(#include "../../engine/src/base/types.h"\n)
      assert_match(/of the engine it may include larder.h only/, breaches.sole)
    end

    test "the byte cache may not name ActiveSupport" do
      write "lib/larder/bytes/cache.rb", "# ActiveSupport in a comment is no matter\nActiveSupport::Notifications\n"
      assert_match(%r{\Alib/larder/bytes/cache.rb:2: bytes names ActiveSupport}, breaches.sole)
    end

    test "the entry may announce sessions, but not load them" do
      store = "action_dispatch/middleware/session/larder_store"
      write "lib/#{store}.rb", ""
      write "lib/larder.rb", "ActionDispatch::Session.autoload :LarderStore, #{store.inspect}\n"
      assert_empty breaches
      write "lib/larder.rb", "require #{store.inspect}\n"
      assert_match(/entry requires #{store} of sessions/, breaches.sole)
      write "lib/larder.rb", ""
      write "lib/larder/bytes/cache.rb", "ActionDispatch::Session.autoload :LarderStore, #{store.inspect}\n"
      assert_match(/bytes requires #{store} of sessions/, breaches.sole)
    end

    test "the entry may load the railtie, and nothing else may" do
      write "lib/larder/rails/railtie.rb", ""
      write "lib/larder.rb", "require \"larder/rails/railtie\" if defined?(Rails::Railtie)\n"
      assert_empty breaches
      write "lib/larder/bytes/cache.rb", "require \"larder/rails/railtie\"\n"
      assert_match(%r{bytes requires larder/rails/railtie of rails}, breaches.sole)
    end

    test "the byte cache may not require the store, by name or by path" do
      write "lib/larder/bytes/cache.rb", "require_relative \"../store/reading\"\nrequire \"larder/store/reading\"\n"
      assert_equal [1, 2], breaches.map { |line| line[/:(\d+):/, 1].to_i }
    end

    test "the byte cache may not require ActiveSupport" do
      write "lib/larder/bytes/cache.rb", "require(\"active_support/core_ext\")\n"
      assert_match(/bytes requires active_support/, breaches.sole)
    end

    test "the store may not know the lab" do
      write "lib/larder/store/reading.rb", "autoload :Runner, \"larder/lab/runner\"\n"
      assert_match(/store requires larder.lab.runner/, breaches.sole)
    end

    test "sessions may not know the command line, nor the command line Rails" do
      write "lib/larder/sessions.rb", "require_relative \"cli\"\n"
      write "lib/larder/cli.rb", "require \"larder/sessions\"\nRails.root\n"
      assert_equal ["lib/larder/sessions.rb:1: sessions requires cli of cli, which is above it",
                    "lib/larder/cli.rb:2: cli names Rails, which is above it"], breaches
    end

    test "a file that no layer owns is named" do
      write "lib/larder/other/thing.rb", ""
      assert_match(%r{\Alib/larder/other/thing.rb: belongs to no layer}, breaches.sole)
    end

    private

    def write(file, text)
      path = File.join(@root, file)
      FileUtils.mkdir_p(File.dirname(path))
      File.write(path, text)
    end

    def breaches
      Layers.new(@root).breaches
    end
  end
end
