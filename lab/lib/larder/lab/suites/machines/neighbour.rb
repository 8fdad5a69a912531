# frozen_string_literal: true

require "json"
require_relative "../../errors"

module Larder
  module Lab
    module Suites
      module Machines
        # Another machine: a process with a store of its own. It ends with the process that made it, at the latest when
        # its work is done.
        module Neighbour
          module_function

          # Calls `work` in the other process, and the block at the same time in this one. Answers what the block
          # answers, and what the work does, plain data.
          def beside(work)
            pipe = IO.popen("-") || serve(work)
            here = yield
            said = pipe.read
            raise Invalid, "the process of the other machine ended" if said.empty?

            [here, JSON.parse(said).fetch("done") { raise Invalid, "the other machine: #{JSON.parse(said)["failed"]}" }]
          ensure
            pipe&.close
          end

          # In the process, whose standard output is the pipe.
          def serve(work)
            answers = $stdout.dup
            $stdout.reopen($stderr) # a store may print
            answers.syswrite(JSON.generate(done: work.call))
          rescue StandardError, LoadError => error
            answers.syswrite(JSON.generate(failed: "#{error.class}: #{error.message.lines.first.to_s.strip}"))
          ensure
            exit!(0) # runs nothing that this process has inherited
          end
          private_class_method :serve
        end
      end
    end
  end
end
