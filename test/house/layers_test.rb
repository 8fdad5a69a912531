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
      write "engine/src/internal.h", %(#include "larder.h"\n#include "layout.h"\n)
      write "engine/src/layout.h", ""
      write "ext/larder/glue.h", %(#include "larder.h"\n#include <ruby.h>\n)
      write "lib/larder/cache.rb", "require \"larder/errors\"\n"
      write "lib/larder/errors.rb", ""
      write "lib/larder/store/reading.rb", "require \"larder/cache\"\nActiveSupport::Cache\n"
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
      write "engine/src/cache.c", "\n#include <ruby.h>\n"
      assert_equal ["engine/src/cache.c:2: the engine includes ruby.h; it must build without Ruby"], breaches
    end

    test "the engine may not include a file outside engine" do
      write "engine/src/cache.c", %(#include "../../ext/larder/glue.h"\n)
      assert_match(/which is not in engine/, breaches.sole)
    end

    test "the glue may include the engine's public header only" do
      write "ext/larder/cache.c", %(#include "larder.h"\n#include "glue.h"\n#include "internal.h"\n)
      assert_match(%r{\Aext/larder/cache.c:3: the glue includes internal.h}, breaches.sole)
    end

    test "the glue may not reach the engine's private headers by a path" do
      write "ext/larder/cache.c", %(#include "../../engine/src/internal.h"\n)
      assert_match(/of the engine it may include larder.h only/, breaches.sole)
    end

    test "the byte cache may not name ActiveSupport" do
      write "lib/larder/cache.rb", "# ActiveSupport in a comment is no matter\nActiveSupport::Notifications\n"
      assert_match(%r{\Alib/larder/cache.rb:2: bytes names ActiveSupport}, breaches.sole)
    end

    test "the entry may announce sessions, but not load them" do
      store = "action_dispatch/middleware/session/larder_store"
      write "lib/#{store}.rb", ""
      write "lib/larder.rb", "ActionDispatch::Session.autoload :LarderStore, #{store.inspect}\n"
      assert_empty breaches
      write "lib/larder.rb", "require #{store.inspect}\n"
      assert_match(/entry requires #{store} of sessions/, breaches.sole)
      write "lib/larder.rb", ""
      write "lib/larder/cache.rb", "ActionDispatch::Session.autoload :LarderStore, #{store.inspect}\n"
      assert_match(/bytes requires #{store} of sessions/, breaches.sole)
    end

    test "the entry may load the railtie, and nothing else may" do
      write "lib/larder/railtie.rb", ""
      write "lib/larder.rb", "require \"larder/railtie\" if defined?(Rails::Railtie)\n"
      assert_empty breaches
      write "lib/larder/cache.rb", "require \"larder/railtie\"\n"
      assert_match(%r{bytes requires larder/railtie of store}, breaches.sole)
    end

    test "the byte cache may not require the store, by name or by path" do
      write "lib/larder/cache.rb", "require_relative \"store/reading\"\nrequire \"larder/store/reading\"\n"
      assert_equal [1, 2], breaches.map { |line| line[/:(\d+):/, 1].to_i }
    end

    test "the byte cache may not require ActiveSupport" do
      write "lib/larder/cache.rb", "require(\"active_support/core_ext\")\n"
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
