# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # The executable from start to end, with little to do.
      class StoresTest < ActiveSupport::TestCase
        test "a run ends with tables; the JSON has a turn of each row and its twin in each block, session and pass" do
          chapter, out, report = measured("stores", *SHORT, "--sessions", "2", "--passes", "3", "--only", "memory,null",
                                          "--blocks", "hit,hit_published")
          assert_match(%r{^  litecache/redis: hit, 1 thread +4 × +not measured$}, out)
          assert_match(/^  memory +\d\S* +(?:1|too busy to tell) /, out)
          assert_equal RUBY_DESCRIPTION[/\A\S+ \S+/], report.dig("environment", "ruby")[/\A\S+ \S+/]
          assert_equal Yjit.can? ? "on" : "off", report.dig("environment", "yjit")
          assert_equal 1, chapter.dig("details", "settings", "seed")
          assert_equal "memory_store", chapter.dig("details", "recorded", "memory", "options", "store")
          turns = chapter.dig("details", "samples")
          assert(turns.all? { |turn| turn["seconds"].positive? && turn["calls"] >= 2 })
          assert_equal %w[memory null reference].product([0, 1], %w[hit hit_published], [0, 1], [0, 1, 2]).sort,
                       turns.map { |turn| turn.values_at("row", "copy", "block", "session", "pass") }.sort
          keys = %w[hit hit_published].product(%w[memory null]).map { |at| "published-a/#{at.join("/")}" }
          assert_equal keys.sort, measures(chapter).sort
        end

        test "a row that breaks the rules fails the run, a row that cannot be had does not" do
          outcome = small_run("--require", fixture("liar"), "--only", "memory,liar,forgetful,crasher,gemless",
                              "--blocks", "hit")
          assert_equal 1, outcome.status
          words = outcome.words
          assert_match(/forgetful: invalid, .*: fetch of a stored value answered "the block ran again"/, words)
          assert_match(/crasher: invalid, its process was killed by signal 9/, words)
          assert_match(/gemless: the gem no-gem-has-this-name is missing: .*"no-gem-has-this-name", ">= 1.2"/, words)
          assert_match(/^  memory +\d/, outcome.out)
          assert_no_match(/^  liar +\d/, outcome.out)
        end

        test "nothing to measure is a failure, with what would help" do
          with_directory do |empty|
            outcome = small_run("--only", "valkey", "--blocks", "hit", env: { "PATH" => empty })
            assert_equal 1, outcome.status
            assert_match(/valkey: valkey-server is not on the PATH: install it .* or pass --url valkey=URL/,
                         outcome.words)
          end
        end

        test "a server that does not answer is a row that says so, without its password" do
          outcome = small_run("--only", "redis,memcached", "--blocks", "hit",
                              "--url", "redis=redis://me:secret@127.0.0.1:1/0", "--url", "memcached=127.0.0.1:1",
                              "--url", "postgresql=postgresql:///db?user=me&password=secret&host=/nowhere")
          assert_equal 1, outcome.status
          assert_match(%r{redis: no answer from redis://\.\.\.@127.0.0.1:1/0}, outcome.out)
          assert_no_match(/secret/, outcome.out + outcome.err)
          assert_match(/memcached: no answer from 127.0.0.1:1/, outcome.out)
        end

        slow_test "a server that is killed in mid-run is a row that says so, and the others are measured" do
          needs_server("redis")

          outcome = small_run("--require", fixture("liar"), "--only", "memory,killer", "--blocks", "hit")
          assert_equal 1, outcome.status
          assert_match(/killer: invalid, the server ended: redis-server was killed by signal 9/, outcome.words)
          assert_match(/^  memory +\d/, outcome.out)
        end

        slow_test "PostgreSQL's memory is measured, and pg_prewarm finds the pages of the table" do
          needs_server("postgresql")

          outcome = small_run("--only", "solid_cache-postgresql,solid_cache-postgresql-prewarmed", "--blocks", "hit")
          assert_equal 0, outcome.status, outcome.out
          skip "Solid Cache is not installed" if outcome.out.include?("not measured: the gem")
          memory = outcome.out[/Memory of servers\n(?:.+\n)+/]
          assert_match(/^  solid_cache-postgresql-prewarmed +\d+(\.\d)? MB +\d/, memory)
        end

        slow_test "pg_prewarm on a table without pages is a wrong measurement" do
          needs_server("postgresql")

          outcome = small_run("--require", fixture("liar"), "--only", "unfilled", "--blocks", "hit")
          skip "Solid Cache is not installed" if outcome.out.include?("the gem")
          assert_equal 1, outcome.status
          assert_match(/pg_prewarm found no page of solid_cache_entries/, outcome.words)
        end

        slow_test "every contender is measured here or says why not, and none is wrong" do
          _, out = measured("stores", *SHORT, "--only", "all", "--blocks", "hit")
          Contenders.names.each { |name| assert_match(/^  #{name} +(\d|not measured: \S)/, out) }
          assert_no_match(/invalid/, out)
        end

        test "calls: each block is measured with the floor" do
          chapter, = measured("calls", *SHORT, "--only", "larder,floor")
          private = [%w[write_cold floor]] # a new process has none of its values
          keys = Suites.fetch("calls").blocks.map(&:key)
          assert_equal (keys.product(%w[larder floor reference]) - private).sort, turns(chapter)
          usual = %w[larder memory file litecache redis floor]
          assert_equal usual, options_of("calls").contenders
          assert_equal usual - ["file"], options_of("calls", "--except", "file").contenders
        end

        slow_test "calls: every store of each kind can do every call" do
          assert_no_match(/invalid/, measured("calls", *SHORT)[1])
        end

        test "applications: warm blocks of a store of one process are measured" do
          chapter, out = measured("applications", *SHORT, "--only", "memory")
          warm = Suites.fetch("applications").blocks.reject(&:cold).map(&:key)
          assert_equal warm.product(%w[memory reference]).sort, turns(chapter)
          assert_match(/^  memory +not measured: other processes see nothing of its entries$/, out)
        end

        slow_test "applications: larder in front of Redis answers for several servers" do
          needs_server("redis")

          outcome = lab("applications", *SHORT, "--only", "larder,redis,larder-redis", "--blocks", "fragment,cold")
          assert_equal 0, outcome.status, outcome.out
          assert_match(/Several servers: A read of a fragment takes \d\S* [mµ]?s with Larder in front of Redis\. /,
                       outcome.words)
        end
      end
    end
  end
end
