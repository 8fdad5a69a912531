# frozen_string_literal: true

require "test_helper"
require "support/report_schema"

module Larder
  module Lab
    module Commands
      # The executable from start to end, with little to do.
      class StoresTest < ActiveSupport::TestCase
        test "a run ends with aligned tables, and the JSON holds every raw sample" do
          with_directory do |dir|
            file = File.join(dir, "run.json")
            outcome = small_run("--only", "memory,null,file", "--json", file, "--dir", dir)
            assert_equal 0, outcome.status, outcome.err
            assert_aligned outcome.out
            assert_document JSON.parse(File.read(file))
            assert_equal ["run.json"], Dir.children(dir)
          end
        end

        slow_test "every contender is measured here or says why not, and none is wrong" do
          outcome = small_run("--only", "all", "--workloads", "one-thread", "--rounds", "1")
          assert_equal 0, outcome.status, outcome.out
          Contenders.names.each { |name| assert_match(/^  #{name} +(\d|not measured: \S)/, outcome.out) }
          assert_no_match(/invalid/, outcome.out)
        end

        slow_test "the workloads and contenders for request only are measured, and their values are right" do
          extra = Workloads.names - Workloads.usual
          outcome = small_run("--only", "larder,memory,file,null,redis-loopback", "--workloads", extra.join(","),
                              "--rounds", "1")
          assert_equal 0, outcome.status, outcome.out
          assert_no_match(/invalid/, outcome.out)
          assert_equal extra.size, outcome.out.scan(/^  memory {2,}≈?\d/).size - 2, outcome.out # and memory, summary
        end

        slow_test "a server that is killed in mid-run is a row that says so, and the others are measured" do
          skip "redis-server is not installed" unless Servers.fetch("redis").path

          outcome = small_run("--require", fixture("killer"), "--only", "memory,killer", "--workloads", "one-thread")
          assert_equal 1, outcome.status
          assert_match(/killer: invalid, the server ended: redis-server was killed by signal 9/,
                       outcome.out.gsub(/\s+/, " "))
          assert_match(/^  memory +\d/, outcome.out)
        end

        slow_test "the order of the rows is the seed's" do
          orders = ["3", "3", "5"].map do |seed|
            with_directory do |dir|
              file = File.join(dir, "run.json")
              small_run("--only", "memory,null", "--workloads", "write", "--rounds", "1", "--seed", seed,
                        "--json", file)
              details(file)["samples"].map { |sample| sample.values_at("round", "row", "position") }
            end
          end
          assert_equal orders[0], orders[1]
          assert_not_equal orders[0], orders[2]
        end

        slow_test "a wrong value voids its row and fails the run, the others are measured" do
          outcome = small_run("--require", fixture("liar"), "--only", "memory,liar")
          assert_equal 1, outcome.status
          assert_match(/liar: invalid, a wrong value: "Hello Mars!" instead of "Hello World!" for \["key", 3\]/,
                       outcome.out.gsub(/\s+/, " "))
          assert_match(/^  memory +\d/, outcome.out)
          assert_no_match(/^  liar +\d/, outcome.out)
        end

        test "a store that loses what it was given is invalid before it is measured" do
          outcome = small_run("--require", fixture("liar"), "--only", "forgetful")
          assert_equal 1, outcome.status
          assert_match(/forgetful: invalid, a wrong value: fetch of a stored value answered/,
                       outcome.out.gsub(/\s+/, " "))
        end

        slow_test "a process that dies is a row with the signal" do
          outcome = small_run("--require", fixture("liar"), "--only", "memory,crasher")
          assert_equal 1, outcome.status
          assert_match(/crasher: invalid, its process was killed by signal 9/, outcome.out)
        end

        slow_test "what a store prints does not disturb the run" do
          outcome = small_run("--require", fixture("liar"), "--only", "chatty", "--workloads", "one-thread")
          assert_equal 0, outcome.status, outcome.out
          assert_match(/^  chatty +\d/, outcome.out)
        end

        slow_test "a missing gem is a row with the command that gets it" do
          outcome = small_run("--require", fixture("liar"), "--only", "memory,gemless")
          assert_equal 0, outcome.status
          assert_match(/gemless: the gem no-gem-has-this-name is missing: .*"no-gem-has-this-name", ">= 1.2"/,
                       outcome.out.gsub(/\s+/, " "))
        end

        test "a missing server is a row with the command that gets it, and nothing to measure is a failure" do
          with_directory do |empty|
            outcome = small_run("--only", "valkey", env: { "PATH" => empty })
            assert_equal 1, outcome.status
            assert_match(/valkey: valkey-server is not on the PATH: install it .* or pass --valkey-url/,
                         outcome.out.gsub(/\s+/, " "))
          end
        end

        test "a server that does not answer is a row that says so" do
          outcome = small_run("--only", "redis,memcached", "--redis-url", "redis://me:secret@127.0.0.1:1/0",
                              "--memcached-url", "127.0.0.1:1")
          assert_equal 1, outcome.status
          assert_match(%r{redis: no answer from redis://127.0.0.1:1/0}, outcome.out)
          assert_no_match(/secret/, outcome.out + outcome.err)
          assert_match(/memcached: no answer from 127.0.0.1:1/, outcome.out)
        end

        test "wrong usage says what is possible and exits with 2" do
          outcome = small_run("--only", "bogus")
          assert_equal 2, outcome.status
          assert_match(/unknown contender bogus; known: larder, larder-tmpfs, memory, file/, outcome.err)
          assert_empty outcome.out
        end

        test "a JSON file that cannot be written is refused before the run" do
          outcome = small_run("--only", "memory", "--json", "/nowhere/run.json")
          assert_equal 2, outcome.status
          assert_match(%r{--json /nowhere/run.json: cannot be written}, outcome.err)
        end

        test "contenders and workloads are listed" do
          outcome = lab("stores", "--list")
          (Contenders.names + Workloads.names).each { |name| assert_match(/^  #{name} +\S/, outcome.out) }
        end

        private

        def details(file)
          JSON.parse(File.read(file)).dig("chapters", 0, "details")
        end

        # Every full row of a timing table has its figures in the same columns.
        def assert_aligned(text)
          tables = text.split("\n\n").select { |section| section.include?("µs/call") || section.include?("us/call") }
          assert_equal Workloads.usual.size, tables.size
          tables.each do |table|
            rows = table.lines.map(&:chomp)
            heading = rows.index { |line| line.include?("s/call") }
            ends = rows.drop(heading).map { |line| line.match(/\A  .{0,14}?\s\s+\S+(?=  )/)&.end(0) }
            assert_equal 1, ends.uniq.size, table
            assert_equal table.include?("floor") ? 6 : 5, ends.size, table
          end
        end

        def assert_document(document)
          assert_empty ReportSchema.errors(document)
          assert_equal RUBY_DESCRIPTION[/\A\S+ \S+/], document.dig("environment", "ruby")[/\A\S+ \S+/]
          chapter = document["chapters"].first
          details = chapter["details"]
          assert_equal ["memory", "memory (A/A)", "null", "file", "floor"], details["rows"].map { |row| row["name"] }
          assert_equal ["measured"], details["rows"].map { |row| row["state"] }.uniq
          assert_equal 1, details.dig("settings", "seed")
          assert_samples details
          assert_equal (4 * 14) + 4 + 1, chapter["measures"].size, "each row and step, and the reference loop"
          assert_operator chapter["measures"].flat_map { |measure| measure["samples"] }.min, :>, 0
        end

        # 4 rows, 2 rounds, 7 workloads of 2 passes; and the floor of 2 workloads.
        def assert_samples(document)
          samples = document["samples"]
          assert_equal (4 * 2 * 14) + (2 * 4), samples.size
          assert_equal [1, 2], samples.map { |sample| sample["round"] }.uniq.sort
          assert_equal [0, 1, 2, 3], samples.map { |sample| sample["position"] }.uniq.sort
          hits = samples.select { |sample| sample["pass"] == "hit" && sample["row"] != "null" }
          assert_equal 0, hits.sum { |sample| sample["block_runs"] }
          misses = samples.select { |sample| sample.values_at("workload", "pass") == ["one-thread", "miss"] }
          misses.each { |sample| assert_equal sample["calls"], sample["block_runs"] }
        end
      end
    end
  end
end
