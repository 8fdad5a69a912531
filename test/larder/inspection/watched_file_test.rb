# frozen_string_literal: true

require "test_helper"
require "larder/inspection"

module Larder
  module Inspection
    class WatchedFileTest < ActiveSupport::TestCase
      include TemporaryCaches

      LIBRARY = File.expand_path("../../../lib", __dir__)
      STORE = "Larder::Cache.open(ARGV[0], size: 4 << 20) { |cache| 3.times { |key| cache.set(key.to_s, '1') } }"

      test "a file that takes the place of another one is opened" do
        open_cache("c").set("old", "1")
        WatchedFile.open(path_of("c")) do |file|
          assert_equal 1, file.cache.stats[:sets]
          File.delete(path_of("c"))
          assert_equal 1, file.cache.stats[:sets]
          # A child of this process would share the open cache, and lose counts when it ends without closing that.
          assert system(RbConfig.ruby, "-I#{LIBRARY}", "-rlarder", "-e", STORE, path_of("c"))
          assert_equal 3, file.cache.stats[:sets]
          assert_equal [], file.pids
        end
      end

      test "it creates no file" do
        assert_raises(OpenError) { WatchedFile.open(path_of("none")) { flunk } }
        assert_not File.exist?(path_of("none"))
      end
    end
  end
end
