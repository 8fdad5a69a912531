# frozen_string_literal: true

require "test_helper"
require "larder/lab/visits"
require "stringio"

module Larder
  module Lab
    class VisitsTest < ActiveSupport::TestCase
      test "every thing is visited once, several at a time, and answers come in their order" do
        at_once = Queue.new
        answers = visit(%w[a b c d e], workers: 2) do |thing|
          at_once << thing
          sleep 0.001 until at_once.size > 1
          thing.upcase
        end
        assert_equal %w[A B C D E], answers
        assert_equal 5, at_once.size
      end

      test "an error ends the other visits, which tidy up before it is told" do
        tidied = []
        error = assert_raises(Unavailable) do
          visit(%w[fails waits], workers: 2) do |thing|
            raise Unavailable, "no" if thing == "fails" && eventually { tidied == [:begun] }

            begin
              tidied << :begun
              sleep
            ensure
              tidied << :tidied
            end
          end
        end
        assert_equal "no", error.message
        assert_equal %i[begun tidied], tidied
      end

      test "a directory is there for as long as the visit" do
        with_directory do |parent|
          Scratch.open(parent) do |scratch|
            dir = Visits.directory(scratch, "place") { |path| path.tap { assert File.directory?(path) } }
            assert_equal File.join(scratch.path, "place"), dir
            assert_not File.exist?(dir)
          end
        end
      end

      private

      def visit(things, workers:, &block)
        progress = Progress.new(CLI::Terminal.new(StringIO.new))
        Visits.each(things, progress: progress, title: "visiting", workers: workers,
                    &block)
      end
    end
  end
end
