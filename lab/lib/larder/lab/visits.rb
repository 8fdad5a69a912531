# frozen_string_literal: true

# Visits one thing after the other where nothing is timed: as many at once as the machine has processors, each with a
# directory of its own. All end when one fails or the lab is interrupted.

require "etc"
require "fileutils"

module Larder
  module Lab
    # Runs a block for each of many things.
    module Visits
      # More at once would fill memory rather than save time.
      MOST = 4

      module_function

      # @param things [Array<Object>]
      # @param progress [Progress]
      # @param title [String] of the phase
      # @param seconds [Float, nil] estimate of each
      # @yieldparam thing [Object]
      # @return [Array<Object>] what the block answered, in the order of the things
      def each(things, progress:, title:, seconds: nil, workers: Etc.nprocessors.clamp(1, MOST))
        estimate = seconds && (seconds / workers)
        progress.start(title, things.size, seconds: estimate && (estimate * things.size), nouns: %w[visit visits])
        lock = Mutex.new
        ended = Thread::Queue.new
        queue = things.each_with_index.to_a
        answers = Array.new(things.size)
        threads = Array.new([workers, things.size].min) do
          work(queue, answers, lock, ended) do |thing|
            lock.synchronize { progress.step(thing.to_s, seconds: estimate.to_f) }
            yield thing
          end
        end
        threads.size.times { ended.pop.join } # raises the first error at once
        answers
      ensure
        threads&.each(&:kill)&.each { |thread| quietly(thread) }
        progress.finish
      end

      # Yields a new directory, and removes it afterwards.
      # @param scratch [Scratch]
      # @param name [String]
      # @yieldparam dir [String]
      # @return [Object] what the block answers
      def directory(scratch, name)
        dir = File.join(scratch.path, name)
        Dir.mkdir(dir, 0o700)
        yield dir
      ensure
        FileUtils.rm_rf(dir)
      end

      def work(queue, answers, lock, ended)
        Thread.new do
          Thread.current.report_on_exception = false
          while (thing, at = lock.synchronize { queue.shift })
            answers[at] = yield thing
          end
        ensure
          ended << Thread.current
        end
      end

      def quietly(thread)
        thread.join
      rescue StandardError
        nil # the first error has been raised already
      end

      private_class_method :work, :quietly
    end
  end
end
