# frozen_string_literal: true

require "support/store_case"
require "active_support/logger"
require "active_support/broadcast_logger"
require "active_support/tagged_logging"
require "stringio"

module LarderStoreTests
  # The debug log: a line for each operation, exactly while some logger wants it, whatever its level hangs on.
  class FastPathLogTest < StoreCase
    setup do
      @before = ActiveSupport::Cache::Store.logger
      @text = StringIO.new
      Larder::Store::FastPath.check # so that what follows has to be noticed
      store.read("key")
    end

    teardown { ActiveSupport::Cache::Store.logger = @before }

    def lines
      @text.truncate(0)
      @text.rewind
      store.read("key")
      @text.string.lines.grep(/Cache read: key/).size
    end

    def log_to(logger)
      ActiveSupport::Cache::Store.logger = logger
    end

    def loggers
      { "Logger" => Logger.new(@text), "ActiveSupport's" => ActiveSupport::Logger.new(@text),
        "tagged" => ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new(@text)),
        "broadcast" => ActiveSupport::BroadcastLogger.new(ActiveSupport::Logger.new(@text)) }
    end

    test "the level of the logger decides, from the moment it changes" do
      loggers.each do |name, logger|
        logger.level = Logger::INFO
        log_to(logger)
        assert_equal 0, lines, name
        logger.level = Logger::DEBUG
        assert_equal 1, lines, name
        logger.level = Logger::WARN
        assert_equal 0, lines, name
      end
    end

    test "a level for one thread is for that thread" do
      loggers.except("Logger").each do |name, logger|
        leaf = logger.respond_to?(:broadcasts) ? logger.broadcasts.first : logger
        logger.level = Logger::INFO
        log_to(logger)
        leaf.log_at(:debug) do
          assert_equal 1, lines, name
          assert_equal 0, Thread.new { lines }.value, name
        end
        assert_equal 0, lines, name
        logger.level = Logger::DEBUG
        leaf.silence { assert_equal 0, lines, name }
        assert_equal 1, lines, name
      end
    end

    test "a level for one fiber is for that fiber" do
      logger = Logger.new(@text, level: :info)
      skip "this logger has no with_level" unless logger.respond_to?(:with_level)
      log_to(logger)
      logger.with_level(:debug) { assert_equal 1, lines }
      assert_equal 0, lines
    end

    test "a logger that joins a broadcast is heard" do
      logger = ActiveSupport::BroadcastLogger.new(ActiveSupport::Logger.new(StringIO.new, level: :info))
      log_to(logger)
      assert_equal 0, lines
      logger.broadcast_to(joined = ActiveSupport::Logger.new(@text, level: :debug))
      assert_equal 1, lines
      logger.stop_broadcasting_to(joined)
      assert_equal 0, lines
    end

    test "a logger with a mind of its own is asked" do
      strange = Class.new(Logger) { def debug? = @asked = true }.new(@text, level: :info)
      log_to(strange)
      lines
      assert strange.instance_variable_get(:@asked)
    end

    test "methods added to the logger alone are asked" do
      log_to(logger = Logger.new(@text, level: :info))
      asked = 0
      logger.define_singleton_method(:debug?) { (asked += 1) && false }
      lines
      assert_operator asked, :>=, 1
    end

    test "any store may set the logger of all" do
      other = ActiveSupport::Cache::MemoryStore.new
      other.logger = Logger.new(@text, level: :debug)
      assert_equal 1, lines
      other.logger = nil
      assert_equal 0, lines
    end

    test "a silenced store logs nothing, whatever the level" do
      log_to(Logger.new(@text, level: :debug))
      store.mute { assert_equal 0, lines }
      assert_equal 1, lines
    end
  end
end
