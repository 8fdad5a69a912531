# frozen_string_literal: true

require "json"
require_relative "../../errors"

module Larder
  module Lab
    module Suites
      module Machines
        # Another machine: a process that opens a store of its own, and works once, after {#go}. It ends with the
        # process that made it.
        class Neighbour
          # Yields it, ready, and ends it.
          # @param work [#call] in the process; answers a callable that gets what {#go} is given
          # @yieldparam neighbour [Neighbour]
          # @return [Object] what the block answers
          # @raise [Invalid] if it fails
          def self.with(work)
            neighbour = new(work)
            neighbour.answer
            yield neighbour
          ensure
            neighbour&.leave
          end

          # @param work [#call] see {.with}
          def initialize(work)
            @pipe = IO.popen("-", "r+") || serve(work)
          end

          # Tells it to work, and does not wait.
          # @param words [Array<Object>] plain data
          # @return [void]
          def go(*words)
            @pipe.puts(JSON.generate(words))
          end

          # @return [Object] what its work has answered, plain data
          # @raise [Invalid]
          def answer
            said = JSON.parse(@pipe.gets || raise(Invalid, "the process of the other machine ended"))
            said.fetch("done") { raise Invalid, "the other machine: #{said["failed"]}" }
          end

          # @return [void]
          def leave
            @pipe.close
          end

          private

          # In the process, whose standard output a store may use.
          def serve(work)
            answers = $stdout.dup
            answers.sync = true
            $stdout.reopen($stderr)
            ready = work.call
            answers.puts(JSON.generate(done: nil))
            words = $stdin.gets or return
            answers.puts(JSON.generate(done: ready.call(*JSON.parse(words))))
          rescue StandardError, LoadError => error
            answers.puts(JSON.generate(failed: "#{error.class}: #{error.message.lines.first.to_s.strip}"))
          ensure
            exit!(0) # runs nothing that this process has inherited
          end
        end
      end
    end
  end
end
