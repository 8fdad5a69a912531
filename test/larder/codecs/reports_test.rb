# frozen_string_literal: true

require "minitest/mock"
require "support/store_case"

# One report for each cause and minute, and a count of the others.
class ReportsTest < StoreCase
  setup { Larder::Reports.reset }
  teardown { Larder::Reports.reset }

  def report(message = "it failed", of: nil, error: Larder::Error)
    Larder::Reports.report(error.new(message), source: "test", of: of)
  end

  # Runs the block as if that many seconds had passed, by the clock that a step of the wall clock does not change.
  def later(seconds, &block)
    Larder::Reports.stub(:monotonic_now, Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds, &block)
  end

  test "a cause is reported once a minute, and then with the number of those that were left out" do
    reports = nil
    log = log_of do
      reports = reports_of do
        1000.times { report }
        later(59) { report }
        later(60) { report }
        later(121) { report }
      end
    end
    assert_equal [{}, { left_out: 1000 }, {}], reports.pluck(:context)
    assert_equal ["larder: it failed", "larder: it failed (and 1000 more in the last minute)", "larder: it failed"],
                 log.lines(chomp: true)
  end

  test "causes that alternate are counted each for itself" do
    log = log_of do
      50.times { %i[read write].each { |operation| report(of: operation) } && report(error: Larder::OpenError) }
      later(60) { report(of: :read) }
    end
    assert_equal [*["larder: it failed"] * 3, "larder: it failed (and 49 more in the last minute)"],
                 log.lines(chomp: true)
  end

  test "keys, texts and numbers make no other cause, paths do" do
    log = log_of do
      10.times do |i|
        report("page/#{i}\n could not be changed: /data/cache.larder: no room")
        report("the cache refused to store \"a \\\"b\\\" #{i}\" (#{i} bytes)")
        report("/data/cache.larder has #{i} bytes: no room")
      end
      report("/data/cache2.larder has 5 bytes: no room")
    end
    assert_equal 4, log.scan(/^larder: /).size
  end

  test "any number of causes takes the memory of some" do
    log = log_of { 1000.times { |i| report(of: i) } }
    assert_equal 65, log.lines.size # 64, and the first of all others
    log = log_of { later(60) { report(of: "another") } }
    assert_equal 1, log.lines.size
  end

  test "threads report a cause once" do
    log = log_of { Array.new(8) { Thread.new { 200.times { report } } }.each(&:join) }
    assert_equal 1, log.lines.size
  end

  test "without a logger the first report goes to $stderr, and the next to the logger that there is then" do
    _, first = capture_io { 3.times { report } }
    assert_equal ["larder: it failed"], first.lines(chomp: true)
    _, later = capture_io { later(60) { report } }
    assert_empty later
    assert_equal ["larder: it failed"], log_of { 2.times { report } }.lines(chomp: true)
  end

  SCRIPT = <<~RUBY
    require "active_support/cache/larder_store"
    ActiveSupport::Cache.format_version = 7.1
    def report = Larder::Reports.report(Larder::Error.new("it failed"), source: "test")
  RUBY

  test "the end of the process says what was left out since, also that of a forked child, which counts for itself" do
    output = run_ruby("#{SCRIPT} 10.times { report }; Process.wait(fork { 3.times { report } }); 5.times { report }")
    assert_equal ["larder: it failed", "larder: it failed", "larder: it failed (and 1 more since the last report)",
                  "larder: it failed (and 13 more since the last report)"], output.lines(chomp: true)
  end

  test "a trap handler gets by" do
    output = run_ruby(<<~RUBY)
      #{SCRIPT}
      trap("USR1") { report; puts "on" }
      Process.kill("USR1", Process.pid)
      sleep 0.01
    RUBY
    assert_includes output.lines(chomp: true), "on"
    assert_includes output.lines(chomp: true), "larder: it failed"
  end
end
