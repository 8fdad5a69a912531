# frozen_string_literal: true

require "support/store_case"
require "support/shop"

# The log of Larder's own events in a real Rails application.
class LogEventsTest < StoreCase
  include RailsShop

  SCRIPT = <<~RUBY
    Rails.cache.delete_tagged("front page")
    log = File.read("\#{Rails.root}/log.txt")
    [defined?(Larder::LogSubscriber) ? 1 : 0, log.scan("Larder delete_tagged").size, Rails.cache.stats[:fast_path][:on]]
  RUBY

  test "the log has them if it takes debug messages" do
    assert_equal [1, 1], in_rails(SCRIPT, lines: level(:debug)).first(2)
  end

  slow_test "otherwise they are left out, and cost nothing" do
    assert_equal [0, 0, true], in_rails(SCRIPT, lines: level(:info))
  end

  slow_test "the configuration leaves them out, or has them for a later level" do
    off = in_rails(SCRIPT, lines: "#{level(:debug)}\nShop.config.larder.log_events = false")
    assert_equal [0, 0], off.first(2)
    later = in_rails("Rails.logger.level = :debug\n#{SCRIPT}",
                     lines: "#{level(:info)}\nShop.config.larder.log_events = true")
    assert_equal [1, 1], later.first(2)
  end

  slow_test "a wrong value is an error that names it" do
    output, status = boot("1", lines: "Shop.config.larder.log_events = :info")
    assert_not_predicate status, :success?
    assert_includes output, "config.larder.log_events is :info; it takes true, false, or nil for the level of the log"
  end

  private

  def level(name)
    "Shop.config.log_level = :#{name}"
  end
end
