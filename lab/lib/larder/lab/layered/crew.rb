# frozen_string_literal: true

# Forks the processes that call one store together, before anything of a store is loaded, so that none inherits a
# connection. Each opens the store when it is told to. They end when the process that forked them does.

require "json"
require_relative "../errors"

module Larder
  module Lab
    module Layered
      # Several processes, asked in turn by lines of JSON.
      class Crew
        # One process as it is seen from outside.
        Member = Struct.new(:pid, :orders, :answers, keyword_init: true)

        # @param size [Integer]
        # @param job [Hash{String=>Object}] of the worker
        # @param hand [Class] what serves in each process, made of the job and a number
        def initialize(size, job, hand:)
          @job = job
          @hand = hand
          @members = []
          size.times { |number| @members << recruit(number) }
        end

        # A member that ended before it answered.
        class Ended < Invalid
          def initialize
            super("one of its processes ended early")
          end
        end

        # Asks some members at once.
        # @param count [Integer]
        # @param from [Integer] the first of them
        # @param order [Hash] what the hands take: "do", and more
        # @return [Array<Hash{String=>Object}>] their answers
        # @raise [Invalid, Unavailable] what any of them says
        # @raise [Ended]
        def ask(count, from: 0, **order)
          asked = @members[from, count]
          asked.each { |member| member.orders.puts(JSON.generate(order)) }
          asked.map { |member| heard(member) }
        rescue Errno::EPIPE
          raise Ended
        end

        # Ends them all.
        # @return [void]
        def dismiss
          @members.flat_map { |member| [member.orders, member.answers] }.each(&:close)
          @members.each { |member| Process.wait(member.pid) }
        rescue Errno::ECHILD
          nil
        end

        private

        def heard(member)
          line = member.answers.gets or raise Ended
          answer = JSON.parse(line)
          raise Unavailable, answer["unavailable"] if answer["unavailable"]
          raise Invalid, answer["invalid"] if answer["invalid"]

          answer
        end

        def recruit(number)
          orders, orders_writer = IO.pipe
          answers, answers_writer = IO.pipe
          pid = fork do
            [orders_writer, answers, *@members.flat_map { |member| [member.orders, member.answers] }].each(&:close)
            $stdin.reopen(File::NULL)
            Service.new(@hand.new(@job, number), orders, answers_writer).run
          ensure
            exit!(0) # runs nothing that this process has inherited
          end
          [orders, answers_writer].each(&:close)
          Member.new(pid: pid, orders: orders_writer, answers: answers)
        end

        # One process as it is inside.
        class Service
          # @param hand [#serve]
          # @param orders [IO]
          # @param answers [IO]
          def initialize(hand, orders, answers)
            @hand = hand
            @orders = orders
            @answers = answers
          end

          # @return [void]
          def run
            waiting = Thread::Queue.new
            Thread.new do
              @orders.each_line { |line| waiting << JSON.parse(line) }
              exit!(0)
            end
            loop { answer { @hand.serve(waiting.pop) } }
          end

          private

          def answer
            @answers.puts(JSON.generate(yield))
            @answers.flush
          rescue Unavailable => error
            @answers.puts(JSON.generate(unavailable: error.message))
          rescue Invalid => error
            @answers.puts(JSON.generate(invalid: error.message))
          rescue StandardError, LoadError => error
            warn error.full_message(highlight: false)
            @answers.puts(JSON.generate(invalid: "#{error.class}: #{error.message.lines.first.to_s.strip}"))
          end
        end
        private_constant :Service
      end
    end
  end
end
