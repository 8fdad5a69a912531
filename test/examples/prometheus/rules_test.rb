# frozen_string_literal: true

require "test_helper"
require "larder/metrics"
require "support/promtool"
require "yaml"

# The alert rules that users copy.
class PrometheusRulesTest < ActiveSupport::TestCase
  include TemporaryDirectory

  ROOT = File.expand_path("../../..", __dir__)
  RULES = File.join(ROOT, "examples/prometheus/larder.rules.yml")
  SERIES = File.join(__dir__, "larder.rules.test.yml")
  ALERTS = YAML.load_file(RULES).fetch("groups").flat_map { |group| group.fetch("rules") }

  test "every metric that the rules name is there" do
    known = Larder::Metrics::Catalogue::ALL.map(&:name)
    named = ALERTS.flat_map { |alert| alert.fetch("expr").scan(/\blarder_\w+/) }.uniq
    assert_operator named.size, :>, 10
    assert_empty named - known
  end

  test "every alert says what is wrong, and what to do" do
    ALERTS.each do |alert|
      assert_equal %w[remedy summary], alert.fetch("annotations").keys.sort, alert["alert"]
      assert_includes %w[warning critical], alert.dig("labels", "severity")
    end
  end

  test "every alert has series that make it fire, and is in the guide" do
    files = [SERIES, File.join(ROOT, "docs/guides/metrics.md")]
    series, guide = files.map { |path| File.read(path, encoding: "UTF-8") }
    ALERTS.each do |alert|
      assert_includes series, "alertname=\"#{alert["alert"]}\""
      assert_match(/^\| `#{alert["alert"]}` \|/, guide)
    end
  end

  test "the commands that the rules name are there" do
    commands = File.read(RULES).scan(/\blarder ([a-z]+)\b/).flatten.uniq
    output, status = Open3.capture2e(RbConfig.ruby, "-I#{ROOT}/lib", "#{ROOT}/exe/larder", "--help")
    assert_predicate status, :success?, output
    assert_empty(commands.reject { |command| output.match?(/^ +#{command}\b/) })
  end

  test "promtool finds no fault in the rules, and each fires when it should" do
    skip Promtool::MISSING unless Promtool.there?

    output, status = Promtool.run("check", "rules", RULES)
    assert_predicate status, :success?, output
    File.write(path_of("test.yml"), File.read(SERIES).sub("RULES", RULES))
    output, status = Promtool.run("test", "rules", path_of("test.yml"))
    assert_predicate status, :success?, output
  end
end
