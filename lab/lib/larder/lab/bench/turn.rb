# frozen_string_literal: true

require_relative "../clock"
require_relative "../errors"

module Larder
  module Lab
    module Bench
      # Times the calls of a block in a scene, with one thread or several: the measured code. Each instruction here is
      # part of each figure. Numbers of calls go on from one turn to the next.
      class Turn
        include Clock

        # The cost of a turn: `seconds` for all `calls`, and `faults`, pages that the process touched for the
        # first time (nil where the system does not say).
        Outcome = Struct.new(:seconds, :calls, :faults, keyword_init: true)

        # The field of /proc/self/stat after the name of the program that counts minor page faults.
        FAULTS = 7

        def initialize(block, scene)
          @block = block
          @scene = scene
          @next = 0
        end

        # Makes `calls` calls in each thread. Raises Invalid if an answer was wrong; a store that keeps nothing has no
        # right one.
        def take(calls)
          before = faults
          seconds, wrong = @block.threads == 1 ? alone(calls) : together(calls)
          touched = faults
          if wrong && @scene.keeps?
            raise Invalid, "a wrong value: call #{wrong} of the block \"#{@block.title}\" did not get what was stored"
          end

          @next += calls
          Outcome.new(seconds: seconds, calls: calls * @block.threads, faults: before && (touched - before))
        end

        private

        # Answers seconds, and the number of the first call with a wrong answer.
        def alone(calls)
          started = now
          wrong = loop_over(@next, @next + calls, 0)
          [now - started, wrong]
        end

        # All threads exist before the clock starts. It stops when the last one has finished.
        def together(calls)
          ready = Thread::Queue.new
          go = Thread::Queue.new
          threads = Array.new(@block.threads) do |number|
            Thread.new do
              ready << true
              go.pop
              loop_over(@next, @next + calls, number)
            end
          end
          threads.size.times { ready.pop }
          started = now
          go.close
          wrong = threads.map(&:value)
          [now - started, wrong.compact.first]
        end

        def loop_over(number, limit, thread)
          call = @block.call
          scene = @scene
          wrong = nil
          while number < limit
            wrong ||= number unless call.call(scene, number, thread) == true
            number += 1
          end
          wrong
        end

        def faults
          File.read("/proc/self/stat").rpartition(")").last.split[FAULTS].to_i
        rescue SystemCallError
          nil
        end
      end
    end
  end
end
