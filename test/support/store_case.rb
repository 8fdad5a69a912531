# frozen_string_literal: true

# What the tests of the Rails store share: stores on files of their own, and what they announce, log and report.

require "test_helper"
require "active_support/cache/larder_store"
require "active_support/core_ext/integer/time"
require "active_support/core_ext/numeric/bytes"
require "active_support/core_ext/numeric/time"
require "active_support/core_ext/object/with"
require "active_support/logger"
require "active_support/notifications"
require "stringio"
require "support/reported_errors"

# Rails sets this from config.load_defaults; without it Active Support writes the format of its oldest supported Rails.
ActiveSupport::Cache.format_version = 7.1

# A test case with `store`, whose file lives as long as the test.
class StoreCase < ActiveSupport::TestCase
  include ReportedErrors
  include TemporaryDirectory
  include Processes

  SIZE = 8 << 20

  # Defines a test twice: in C, and on ActiveSupport's path.
  def self.on_both_paths(sentence, &block)
    test(sentence) { instance_exec(&block) }
    test("#{sentence}, on the ordinary path") { Larder::Store::FastPath.without { instance_exec(&block) } }
  end

  # Made before any fork, so that children use the same one.
  setup { directory }

  # @return [ActiveSupport::Cache::LarderStore] the one of the test, without options
  def store
    @store ||= new_store
  end

  # @return [ActiveSupport::Cache::LarderStore] another store on the same file
  def new_store(name = "test.larder", size: SIZE, **options)
    ActiveSupport::Cache.lookup_store(:larder_store, path_of(name), { size: size, **options }).tap do |made|
      made.cache.size # opens the file
    end
  end

  # @return [Array<ActiveSupport::Notifications::Event>] what the cache announced during the block
  def events_of
    events = []
    ActiveSupport::Notifications.subscribed(->(event) { events << event }, /\Acache_.*\.active_support\z/) { yield }
    events
  end

  # @return [String] what the stores logged during the block, at the level "debug"
  def log_of(&block)
    io = StringIO.new
    ActiveSupport::Cache::Store.with(logger: ActiveSupport::Logger.new(io), &block)
    io.string
  end
end
