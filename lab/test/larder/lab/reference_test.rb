# frozen_string_literal: true

require "test_helper"
require "larder/lab/reference"
require "larder/lab/worker_process"

module Larder
  module Lab
    class ReferenceTest < ActiveSupport::TestCase
      test "each worker process of a run adds a sample to the chapter's measure of the loop" do
        chapter = Reference.during do
          2.times { with_directory { |dir| start_worker(dir) } }
          chapter_of
        end
        measure = chapter.measures.last
        assert_equal [Reference::KEY, "seconds", 2], [measure.key, measure.unit, measure.samples.size]
        assert measure.samples.all?(&:positive?)
        assert_empty ReportSchema.errors(JSON.parse(JSON.generate(document(chapter).to_h)))
      end

      test "a chapter for which no process was started has no such measure" do
        assert_empty Reference.during { chapter_of }.measures
      end

      test "a sample that nobody collects is not taken" do
        assert_nil Reference.take
      end

      private

      # Any program that ends stands for a worker.
      def start_worker(dir)
        script = File.join(dir, "worker.rb")
        File.write(script, %(puts '{"event":"done"}'))
        WorkerProcess.new({}, dir: dir, log: File.join(dir, "log"), timeout: 30, script: script).run
      end

      def chapter_of
        Document::Chapter.new(key: "stores", title: "Stores")
      end

      def document(chapter)
        Document.new(command: "stores", chapters: [chapter], environment: {}, elapsed: 1.0)
      end
    end
  end
end
