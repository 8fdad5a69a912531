# frozen_string_literal: true

require "test_helper"
require "stringio"
require "larder/lab/advice/interview"
require "larder/lab/advice/options"

module Larder
  module Lab
    module Advice
      class QuestionTest < ActiveSupport::TestCase
        def interview(question, typed)
          shown = StringIO.new
          Interview.new(StringIO.new(typed), CLI::Terminal.new(shown)).run(question)
          shown.string
        end

        test "what was said is taken, the rest assumed" do
          arguments = %w[--reads 20 --rtt 200us --bandwidth none --hosts 4 --size 10gb --trust]
          question = Options.new.parse(arguments).question
          assert_equal [20.0, 200e-6, nil, 4, 10_000_000_000, true],
                       %i[reads rtt bandwidth hosts size trust].map { |key| question.public_send(key) }
          assert_equal "hosts", question.shared_by
          assert_includes question.assumed.map(&:option), "--shared-by"
          refute_includes question.assumed.map(&:option), "--region-rtt"
          refute_includes question.assumed.map(&:option), "--reads"
        end

        test "yes and no, and values behind an equals sign" do
          options = Options.new.parse(["--persistent", "--no-trust", "--rtt=2ms", "--payload=ruby:{ a: '--b=c' }"])
          assert_equal [true, false, 2e-3], %i[persistent trust rtt].map { |key| options.question.public_send(key) }
          assert_equal "ruby:{ a: '--b=c' }", options.question.payload
          assert options.question.given?(:trust)
        end

        test "databases take part where what is cached must survive, or where they are named" do
          database = "solid_cache-postgresql"
          refute_includes Options.new.parse([]).stores, database
          assert_includes Options.new.parse(["--persistent"]).stores, database
          assert_includes Options.new.parse(["--quick", "--stores", "redis,#{database}"]).stores, database
        end

        test "what makes no sense names the option and the forms" do
          { %w[--rtt fast] => /--rtt fast: a duration is written/,
            %w[--hosts 0] => /--hosts 0: a whole number from 1 on/,
            %w[--shared-by all] => /--shared-by all: one of hosts, processes, nobody/,
            %w[--size 0] => /--size 0: more/,
            %w[--hit-ratio 90] => /--hit-ratio 90: a share, such as 90% or 0.9/,
            %w[--changes few] => /--changes few: a number of changes/,
            %w[--stale soon] => /--stale soon: a duration is written/,
            %w[--expires-in 5] => /--expires-in 5: a duration is written/,
            %w[--payload /missing] => /no such file; an expression begins with ruby:/,
            %w[--stores etcd] => /unknown in --stores: etcd; known: larder/ }.each do |arguments, message|
            error = assert_raises(UsageError) { Options.new.parse(arguments) }
            assert_match(message, error.message)
          end
        end

        test "only what was not given is asked, with the default in brackets" do
          question = Question.new(Fields::ALL.to_h { |field| [field.key, field.default_for(Question.new)] }
                                             .except(:reads, :hosts))
          shown = interview(question, "\n3\n")
          assert_match(/How often is a value read.*\[10\]/, shown)
          assert_equal [10.0, 3], [question.reads, question.hosts]
          refute_match(/round trip/, shown)
        end

        test "a wrong answer is asked again" do
          question = Question.new
          shown = interview(question, "text\nmany\n20\n")
          assert_match(/  many: a number of reads/, shown)
          assert_equal 20.0, question.reads
        end

        test "the end of the input takes the defaults of the rest" do
          question = Question.new
          interview(question, "hash\n5\n2\n")
          assert_equal ["hash", 5.0, 2, "hosts"], [question.payload, question.reads, question.hosts, question.shared_by]
          refute question.given?(:rtt)
        end

        test "what several machines decide by is asked of several machines" do
          question = Options.new.parse(%w[--hosts 4 --hit-ratio 95% --changes 0.5 --stale 10s]).question
          keys = %i[hit_ratio changes stale expires_in]
          assert_equal([0.95, 0.5, 10.0, nil], keys.map { |key| question.public_send(key) })
          asked = /Which share of its reads/
          refute_match(asked, interview(Question.new, "\n" * 20))
          assert_match(asked, interview(Question.new(hosts: "4"), "\n" * 20))
          refute_match(asked, interview(Question.new(hosts: "4", shared_by: "processes"), "\n" * 20))
        end

        test "what only several regions have is asked of several regions" do
          asked = "How long is a round trip between regions?"
          refute_includes interview(Question.new, "\n" * 20), asked
          assert_includes interview(Question.new(regions: "2"), "\n" * 20), asked
        end

        test "a payload is a name, a file or an expression" do
          options = Options.new.parse(["--payload", "hash"])
          assert_equal({ payload: "hash" }, options.payload_job)
          options = Options.new.parse(["--payload", "ruby:[1]"])
          assert_equal({ payload: "given", source: "ruby:[1]" }, options.payload_job)
          assert_equal File.expand_path(__FILE__), Options.new.parse(["--payload", __FILE__]).payload_job[:source]
        end
      end
    end
  end
end
