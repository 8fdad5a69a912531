# frozen_string_literal: true

require "json"
require_relative "../clock"
require_relative "../errors"

module Larder
  module Lab
    module Bench
      # Forks processes that call one store at once, as those of a server do that has loaded its application before it
      # forks. They begin together, and end when the one does that forks them.
      module Callers
        # Seconds until the beginning: all processes have read its time by then.
        NOTICE = 0.02
        # The bytes of a time in the pipe from which the processes read it.
        TIME = "E"

        extend Clock

        module_function

        # Has `count` processes call the block at once, with their number and the time of the beginning on the monotonic
        # clock, after `ready` has run in each (connects, warms up). This process calls `here` at that time.
        # Answers what the blocks answered, plain data; nil for a process that was killed. An error that one of them
        # raises is raised here.
        def run(count, ready: -> {}, here: -> {}, &call)
          gate, opener = IO.pipe.each(&:binmode)
          life, keeper = IO.pipe # it ends when this process does
          others = [opener, keeper]
          members = Array.new(count) { |number| member(number, gate, life, others) { ready.call.then { call } } }
          first = members.map { |_, answers| answers.gets }
          opener.write([now + NOTICE].pack(TIME) * count)
          here.call
          texts = first.zip(members).map { |line, (_, answers)| line == "\n" ? answers.read : line.to_s }
          texts.map { |text| settled(JSON.parse(text).first) unless text.empty? }
        ensure
          [gate, life, opener, keeper].each(&:close)
          members.to_a.each { |pid, _| Process.wait(pid) }
        end

        # As {.run}, where no process may be killed.
        def all(...)
          run(...).each { |answer| answer.nil? && raise(Invalid, "a process that called the store ended early") }
        end

        # Sleeps until a time on the monotonic clock.
        def wait_until(time)
          left = time - now
          sleep(left) if left.positive?
        end

        # Each error becomes an answer: "unavailable", or "invalid" for everything else that goes wrong. {.settled}
        # raises it on the other side of a pipe.
        def outcome
          yield
        rescue Unavailable => error
          { unavailable: error.message }
        rescue Invalid => error
          { invalid: error.message }
        rescue StandardError, LoadError, NotImplementedError => error
          warn error.full_message(highlight: false)
          { invalid: "#{error.class}: #{error.message.lines.first.to_s.strip}" }
        end

        def settled(answer)
          return answer unless answer.is_a?(Hash)
          raise Unavailable, answer["unavailable"] if answer["unavailable"]
          raise Invalid, answer["invalid"] if answer["invalid"]

          answer
        end

        # In the process: gets ready and says so, reads when to begin, and calls.
        def member(number, gate, life, others)
          reader, writer = IO.pipe
          pid = fork do
            others.each(&:close)
            Thread.new { life.read && exit!(1) }
            text = outcome do
              call = yield
              writer.syswrite("\n")
              call.call(number, gate.readpartial([0.0].pack(TIME).size).unpack1(TIME))
            end
            writer.write(JSON.generate([text]))
            writer.close
          ensure
            exit!(0) # no handler of the process that forked it runs here
          end
          writer.close
          [pid, reader]
        end
        private_class_method :member
      end
    end
  end
end
