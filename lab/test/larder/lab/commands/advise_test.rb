# frozen_string_literal: true

require "test_helper"
require "larder/lab/commands"

module Larder
  module Lab
    module Commands
      # Advice from the command line to the report, with real processes and real stores.
      class AdviseTest < ActiveSupport::TestCase
        SMALL = ["--sessions", "5", "--passes", "1", "--turn-ms", "1", "--seed", "1", "--only", "larder,memory",
                 "--blocks", "read_default_given,write_default_given,read_native_none_given,write_native_none_given"]
                .freeze

        test "a value of the user's is measured, and other questions are answered from the report" do
          with_directory do |dir|
            file = File.join(dir, "run.json")
            run = lab("advise", *SMALL, "--payload", "ruby:{ name: 'pear ' * 500, at: Time.at(0) }", "--json", file)
            assert_equal 0, run.status, run.err
            assert_match(/^  - Take larder/, run.out)
            assert_match(/^  config.cache_store = :larder_store, \{$/, run.out)
            again = lab("advise", "--from", file, "--survive", "restart", "--shared-by", "nobody")
            assert_equal 0, again.status, again.err
            assert_match(/measured by: larder-lab advise --sessions 5/, again.out.gsub(/\s+/, " "))
            assert_match(/memory: it is empty after a restart/, again.out)
            none = lab("advise", "--from", file, "--hosts", "2")
            assert_equal 1, none.status
            assert_match(/Nothing is advised: something speaks against each choice/, none.out)
          end
        end

        {
          %w[--reads many] => /--reads many: a number, such as 20 or 0.5/,
          %w[--rtt 5] => /--rtt 5: a duration is written/,
          %w[--hosts 0] => /--hosts 0: a whole number from 1 on/,
          %w[--shared-by all] => /--shared-by all: one of hosts, processes, nobody/,
          %w[--hit-ratio 101%] => /--hit-ratio 101%: a share, such as 90%/,
          %w[--memory much] => /--memory much: a size is written/,
          %w[--only litecache] => /unknown store litecache; known: larder, memory/,
          %w[--payload none.json] => /--payload none.json: no such file/,
          %w[--from none.json] => /none.json: No such file/,
          ["--from", __FILE__] => /advise_test.rb: not a report of larder-lab/,
          %w[--from run.json --only redis] => /--from run.json: nothing is measured then; leave out --only/
        }.each do |arguments, message|
          test "#{arguments.map { |word| File.basename(word) }.join(" ")} is refused" do
            assert_refused message, *arguments
          end
        end

        test "a report without samples of codecs is refused, and so are samples that cannot be read" do
          with_directory do |dir|
            file = File.join(dir, "other.json")
            { {} => /it has no samples of stores with codecs; larder-lab advise --json/,
              { samples: [{}], absent: {}, recorded: {} } => /samples cannot be read: a turn without a time/,
              { samples: [] } => /samples cannot be read: key not found: "absent"/ }.each do |details, message|
              chapter = Document::Chapter.new(key: "matrix", title: "Matrix", details: details)
              File.write(file, JSON.generate(Document.new(command: "matrix", chapters: [chapter], elapsed: 1.0,
                                                          environment: {}).to_h))
              assert_refused message, "--from", file
            end
          end
        end

        test "only stores that could be advised take part, and a database where entries must survive a crash" do
          { [] => %w[larder file solid_cache redis memcached], %w[--hosts 4] => %w[larder redis memcached],
            %w[--shared-by nobody] => %w[larder memory file solid_cache redis memcached],
            %w[--hosts 4 --survive crash] => %w[larder redis memcached solid_cache-postgresql],
            %w[--only valkey] => %w[valkey] }.each { |arguments, rows| assert_equal rows, plan(*arguments).rows }
          assert_equal %w[read write], plan.blocks.map(&:heading).uniq
          assert_equal %w[default native], plan("--quick").blocks.map { |block| block.axes["serializer"] }.uniq
        end

        test "the help fits the screen, and the list has the stores" do
          assert_empty(here("--help").out.lines.map(&:chomp).select { |line| line.size > 80 })
          assert_match(/^  solid_cache-postgresql /, here("--list").out)
        end

        private

        # In this process.
        def here(*arguments)
          out, err = Array.new(2) { StringIO.new }
          status = Lab.run(["advise", *arguments], out: out, err: err)
          Outcome.new(out: out.string, err: err.string, status: status)
        end

        def assert_refused(message, *arguments)
          run = here(*arguments)
          assert_equal 2, run.status
          assert_match message, run.err
          assert_match(/Try: larder-lab advise --help/, run.err)
        end

        def plan(*arguments)
          silent = CLI::Terminal.new(StringIO.new)
          Advise.new(silent, silent).options_for(arguments).plans.first
        end
      end
    end
  end
end
