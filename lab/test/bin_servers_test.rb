# frozen_string_literal: true

require "test_helper"

# bin/servers as far as it goes without installing anything.
class BinServersTest < ActiveSupport::TestCase
  PROGRAM = File.expand_path("../../bin/servers", __dir__)

  setup { skip "needs the checkout" unless File.exist?(PROGRAM) }

  test "help tells what it installs and what becomes of services" do
    out, _, status = Open3.capture3(PROGRAM, "--help")
    assert_predicate status, :success?
    assert_match(/No service is started/, out)
    assert_empty(out.lines.map(&:chomp).select { |line| line.size > 80 })
  end

  test "every server that the lab knows is there or missing, and what is missing makes it fail" do
    out, _, status = Open3.capture3(PROGRAM, "--no-install")
    ["redis-server", "valkey-server", "memcached", "postgres", "mariadbd"].each do |program|
      assert_match(/^servers: #{program}: (there|missing, and with it \S)/, out)
    end
    assert_equal out.include?("missing"), !status.success?
  end

  test "an unknown option is refused" do
    _, err, status = Open3.capture3(PROGRAM, "--all")
    assert_equal 2, status.exitstatus
    assert_match(/unknown option --all/, err)
  end
end
