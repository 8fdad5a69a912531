# frozen_string_literal: true

require "test_helper"
require "support/report_schema"

module Larder
  module Lab
    module Commands
      # Advice from the command line to the report, with real processes and real servers.
      class AdviseTest < ActiveSupport::TestCase
        include LabHelper

        SMALL = ["--quick", "--rounds", "1", "--seed", "1", "--memory", "8gb", "--serializers",
                 "larder,marshal", "--compressors", "none,zlib"].freeze

        test "the published figures, to the digits that are known" do
          run = lab("advise", "--published")
          assert_equal 0, run.status, run.err
          text = run.out.gsub(/\s+/, " ")
          assert_includes text, "Brotli up to 3.12 Mbit/s, Zstd from there to 755 Mbit/s, Snappy from there to " \
                                "3.17 Gbit/s, no compression above"
          assert_match(/Never the fastest: LZ4Flex and LZ4\./, text)
          assert_match(/Gzip: its size was not given.* less than 577,629 bytes/, text)
        end

        test "on one host: the value, a ranking, the lines to paste, which work, and all of it in JSON" do
          with_directory do |dir|
            json = File.join(dir, "out.json")
            run = lab("advise", *SMALL, "--stores", "larder,memory", "--shared-by", "nobody", "--payload",
                      "ruby:{ name: 'pear ' * 500, at: Time.at(0) }", "--json", json)
            assert_equal 0, run.status, run.err
            assert_match(/5 objects, 2 levels deep/, run.out)
            assert_match(/Tried here with your value: a read took/, run.out)
            assert_match(/^  - Take (?:larder|memory)/, run.out)
            assert_match(/Assumed, not said: .*--rtt/m, run.out)
            assert_document(json)
          end
        end

        def assert_document(json)
          document = Document.load(json)
          assert_empty ReportSchema.errors(JSON.parse(File.read(json)))
          chapter = document.chapters.first
          assert_equal "advise", chapter.key
          keys = document.measures.map(&:key)
          assert_includes keys, "advise/serialize/marshal"
          assert_includes keys, "advise/compress zlib/marshal"
          assert_equal "2", chapter.details.dig("value", "depth").to_s
          kinds = chapter.sections.flat_map(&:blocks).map(&:kind)
          assert_empty %w[intervals stacked code] - kinds
        end

        slow_test "on several hosts: a server, where there is one" do
          run = lab("advise", *SMALL, "--stores", "larder,redis", "--hosts", "4", "--payload", "hash",
                    "--serializers", "larder,native")
          skip "redis-server is not installed" if run.out.include?("redis-server is not on the PATH")
          assert_equal 0, run.status, run.err
          assert_match(/^  - Take redis \+ native/, run.out)
          assert_match(/larder: it is one host's: each of 4 would fill its own/, run.out)
          assert_match(/--hosts +4 +1 +larder/, run.out)
          assert_match(/url: ENV.fetch\("REDIS_URL"\)/, run.out)
          assert_match(/Tried here with your value and a server on this machine/, run.out)
        end

        slow_test "with a server on the one host: the round trip to it is measured, and the lines are tried with it" do
          run = lab("advise", *SMALL, "--stores", "redis", "--payload", "hash", "--serializers", "native")
          skip "redis-server is not installed" if run.out.include?("redis-server is not on the PATH")
          assert_equal 0, run.status, run.err
          assert_match(/^  --rtt +local: \S+ µs, measured \(assumed\)$/, run.out)
          assert_match(/Tried here with your value and a server on this machine: .* The parts add up to/m, run.out)
        end

        slow_test "nothing can be advised: a chapter that says why, and exit code 1" do
          run = lab("advise", *SMALL, "--stores", "larder", "--hosts", "2", "--payload", "hash", "--serializers",
                    "larder")
          assert_equal 1, run.status, run.err
          assert_match(/Nothing can be advised/, run.out)
          assert_match(/larder: it is one host's/, run.out)
        end

        slow_test "a payload that cannot be made, or that nothing takes, ends in a clear line" do
          { "ruby:nonsense" => /--payload ruby:nonsense: the payload cannot be made: NameError: undefined/,
            "ruby:(" => /--payload ruby:\(: the payload cannot be made: SyntaxError/,
            "ruby:-> {}" => /no serializer takes it\n  .*marshal: .*Proc/m }.each do |payload, message|
            run = lab("advise", *SMALL, "--stores", "larder", "--payload", payload)
            assert_equal 2, run.status
            assert_match(message, run.err)
          end
        end

        test "what makes no sense is refused, help fits the screen" do
          run = lab("advise", "--reads", "many")
          assert_equal 2, run.status
          assert_match(/--reads many: a number of reads/, run.err)
          help = lab("advise", "--help")
          assert_equal 0, help.status
          assert_empty(help.out.lines.map(&:chomp).select { |line| line.size > 80 })
          assert_equal 0, lab("advise", "--list").status
        end
      end
    end
  end
end
