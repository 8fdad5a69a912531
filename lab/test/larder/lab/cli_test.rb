# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class ProgramTest < ActiveSupport::TestCase
      # CLI::Program is tested with the command `larder`.
      test "the commands are listed, the version is told, and an unknown command is refused with the known ones" do
        list, version, refused = [[], ["--version"], ["bogus"]].map { |arguments| lab(*arguments) }
        assert_equal 0, list.status
        assert_match(/^  stores +\S/, list.out)
        assert_equal "larder-lab #{VERSION}\n", version.out
        assert_equal [2, ""], [refused.status, refused.out]
        assert_match(/unknown command bogus; known: overview, advise/, refused.err)
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
    end
  end
end
