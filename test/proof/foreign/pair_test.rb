# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/foreign/pair"

module Foreign
  class PairTest < ActiveSupport::TestCase
    # A browser whose answers a test says.
    Scripted = Struct.new(:pages, :asked, :cut) do
      def get(path)
        asked << "GET #{path}"
        Page.new(status: 200, body: pages.size > 1 ? pages.shift : pages.first)
      end

      def post(path, form)
        asked << "POST #{path} #{form.size}"
        get(path)
      end
    end

    setup { @findings = Findings.new }

    test "equal pages count as requests alone" do
      pair = pair(["same"], ["same"])
      assert_equal "same", pair.get("/a").body
      assert_equal({ "requests on each side" => 1 }, @findings.counts)
    end

    test "a page that stays different is a difference with its lines" do
      pair(["one"], ["two"]).get("/a")
      assert_equal 1, @findings.counts["pages that differed"]
      assert_equal ["GET /a\n    its own stores: one\n    Larder:         two"], @findings.different
    end

    test "a page that is the same when asked again is none" do
      pair(["old", "new"], ["new"], stale: 60).get("/a")
      assert_equal 1, @findings.counts["pages that differed and were the same when asked again"]
      assert_equal ["GET /a\n    its own stores: old\n    Larder:         new"], @findings.passing
      assert_empty @findings.different
    end

    test "an answer of 500 is a failure, also where both sides give it" do
      browsers = Array.new(2) { Scripted.new([""], [], 0) }
      browsers.each { |browser| browser.define_singleton_method(:get) { |_path| Page.new(status: 500) } }
      pair_of(browsers).get("/a")
      assert_equal ["GET /a: 500 from its own stores", "GET /a: 500 from Larder"], @findings.different
    end

    test "a form is sent only while all others wait" do
      pair = pair(["same"], ["same"])
      assert_raises(ArgumentError) { pair.post("/a", {}) }
      pair.change { pair.post("/a", { "b" => "c" }) }
      assert_equal({ "requests on each side" => 1 }, @findings.counts)
    end

    test "a writer is alone, and readers are not" do
      turns = Turns.new
      running = 0
      most = Hash.new(0)
      lock = Mutex.new
      work = lambda do |kind|
        lock.synchronize { most[kind] = [most[kind], running += 1].max }
        sleep(0.005)
        lock.synchronize { running -= 1 }
      end
      threads = Array.new(4) { Thread.new { 20.times { turns.read { work.call(:read) } } } } +
                Array.new(2) { Thread.new { 10.times { turns.write { work.call(:write) } } } }
      threads.each(&:join)
      assert_equal 1, most[:write]
    end

    test "a reader or writer that raises leaves its turn to others" do
      turns = Turns.new
      [:read, :write, :read].each { |kind| assert_raises(IOError) { turns.public_send(kind) { raise IOError } } }
      assert_equal 1, turns.write { 1 }
    end

    private

    def pair(default, larder, stale: 0)
      pair_of([Scripted.new(default, [], 0), Scripted.new(larder, [], 0)], stale: stale)
    end

    def pair_of(browsers, stale: 0)
      Pair.new(browsers, turns: Turns.new, changes: Mutex.new, findings: @findings, random: Random.new(1), stale: stale,
                         pause: 0)
    end
  end
end
