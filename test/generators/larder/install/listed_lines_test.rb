# frozen_string_literal: true

require "test_helper"
require "generators/larder/install/listed_lines"

# Lines of ignore files and of routes.
class ListedLinesTest < ActiveSupport::TestCase
  MOUNT = ['mount Larder::Dashboard.new(password: ENV["LARDER_PASSWORD"]) => "/larder"', "larder/dashboard"].freeze
  OTHER = ['mount Larder::Metrics.new(token: ENV["T"]) => "/metrics"', "larder/metrics"].freeze
  ROUTES = "Rails.application.routes.draw do\n  root \"pages#show\"\nend\n"

  test "a line of an ignore file is added once, and goes again" do
    ["", "/log\n", "/log\n\n", "/tmp\n*.log\n"].each do |text|
      changed = lines(text).with("*.larder*")
      assert_equal ["# Caches and sessions of Larder\n", "*.larder*\n"], changed.lines.last(2)
      assert_equal changed, lines(changed).with("*.larder*")
      assert_equal text, lines(changed).without("*.larder*")
    end
    assert_equal "/log\n\n# Caches and sessions of Larder\n*.larder*\n", lines("/log").with("*.larder*")
    assert_equal "*.larder*\n", lines("*.larder*\n").with("*.larder*")
    assert_equal "*.larder*\n", lines("*.larder*\n").without("*.larder*")
  end

  test "a mount is added once with its library, and goes again" do
    [ROUTES, "# frozen_string_literal: true\n\n#{ROUTES}", "# frozen_string_literal: true\n#{ROUTES}",
     "require \"sidekiq/web\"\n\n#{ROUTES}", "# About routes.\n#{ROUTES}"].each do |text|
      changed = mounted(text, MOUNT)
      assert_match(/^require "larder\/dashboard"$/, changed)
      assert_match(/draw do\n  mount Larder::Dashboard/, changed)
      assert_equal changed, mounted(changed, MOUNT)
      both = mounted(changed, OTHER)
      assert RubyVM::InstructionSequence.compile(both)
      assert_equal text, unmounted(unmounted(both, MOUNT), OTHER)
      assert_equal text, unmounted(unmounted(both, OTHER), MOUNT)
    end
  end

  test "a mount of the application's own stays, and a comment is not one" do
    text = ROUTES.sub("root", "mount Larder::Dashboard.new(password: \"secret\") => \"/cache\"\n  root")
    assert_equal text, mounted(text, MOUNT)
    assert_equal text, unmounted(text, MOUNT)
    assert_not_equal ROUTES, mounted(ROUTES.sub("root", "# Larder::Dashboard\n  root"), MOUNT)
  end

  test "a mount of the health page is not one of the metrics" do
    text = ROUTES.sub("root", "mount Larder::Metrics::Health => \"/health\"\n  root")
    both = mounted(text, OTHER)
    assert_includes both, "  #{OTHER.first}\n"
    left = unmounted(both, OTHER)
    assert_not_includes left, OTHER.first
    assert_includes left, "require \"larder/metrics\"\n"
  end

  test "a mount goes into the routes of the application, not into those of an engine before them" do
    engine = "Spree::Core::Engine.routes.draw do\nend\n"
    assert_match(/\Arequire .*\n\n#{engine}Rails\.application\.routes\.draw do\n  mount /,
                 mounted(engine + ROUTES, MOUNT))
  end

  test "a file without routes has no place for it" do
    ["# nothing\n", "Shop::Engine.routes.draw do\nend\n"].each { |text| assert_nil mounted(text, MOUNT) }
  end

  private

  def lines(text)
    Larder::Generators::ListedLines.new(text)
  end

  def mounted(text, (line, library))
    lines(text).mounted(library, line)
  end

  def unmounted(text, (line, library))
    lines(text).unmounted(library, line)
  end
end
