# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class ProgramTest < ActiveSupport::TestCase
      test "without a command the commands are listed" do
        [[], ["--help"], ["help"]].each do |arguments|
          outcome = lab(*arguments)
          assert_equal 0, outcome.status
          assert_match(/^  stores +\S/, outcome.out)
        end
      end

      test "the version is told" do
        assert_equal "larder-lab #{VERSION}\n", lab("--version").out
      end

      slow_test "help and lists need no gems" do
        alone = { "RUBYOPT" => nil, "RUBYLIB" => nil, "GEM_PATH" => "", "GEM_HOME" => "", "BUNDLE_GEMFILE" => nil }
        ask = lambda do |*arguments|
          out, errors, status = Open3.capture3(alone, RbConfig.ruby, LabHelper::EXECUTABLE, *arguments)
          assert_predicate status, :success?, errors
          refute_empty out
          out
        end
        ask.call
        Commands.names.each { |name| ask.call(name, "--list") if ask.call(name, "--help").include?("--list") }
      end

      test "an unknown command is an error that names the known ones" do
        outcome = lab("bogus")
        assert_equal 2, outcome.status
        assert_match(/unknown command bogus; known: overview, advise/, outcome.err)
        assert_empty outcome.out
      end

      test "no output is lost with an error when the reader leaves" do
        outcome = Open3.capture3("#{RbConfig.ruby} #{LabHelper::EXECUTABLE} stores --help | head -n 1")
        assert_equal "Usage: larder-lab stores [options]\n", outcome[0]
        assert_empty outcome[1]
      end
    end
  end
end
