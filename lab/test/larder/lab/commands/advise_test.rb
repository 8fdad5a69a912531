# frozen_string_literal: true

require "test_helper"

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

        test "a report without samples of codecs is refused, and so are samples that cannot be read" do
          with_directory do |dir|
            file = File.join(dir, "other.json")
            { {} => /it has no samples of stores with codecs; larder-lab advise --json/,
              { samples: [{}], absent: {}, recorded: {} } => /samples cannot be read: a turn without a time/,
              { samples: [] } => /samples cannot be read: key not found: "absent"/ }.each do |details, message|
              chapter = Document::Chapter.new(key: "matrix", title: "Matrix", details: details)
              File.write(file, JSON.generate(Document.new(command: "matrix", chapters: [chapter], elapsed_seconds: 1.0,
                                                          environment: {}).to_h))
              run = here("advise", "--from", file)
              assert_equal 2, run.status
              assert_match message, run.err
            end
          end
        end

        test "only stores that could be advised take part, and a database where entries must survive a crash" do
          plan = ->(*arguments) { options_of("advise", *arguments).plans.first }
          { [] => %w[larder file solid_cache redis memcached], %w[--hosts 4] => %w[larder redis memcached],
            %w[--shared-by nobody] => %w[larder memory file solid_cache redis memcached],
            %w[--hosts 4 --survive crash] => %w[larder redis memcached solid_cache-postgresql],
            %w[--only valkey] => %w[valkey] }.each { |arguments, rows| assert_equal rows, plan[*arguments].rows }
          assert_equal %w[read write], plan[].blocks.map(&:heading).uniq
          assert_equal %w[default native], plan["--quick"].blocks.map { |block| block.axes["serializer"] }.uniq
        end
      end
    end
  end
end
