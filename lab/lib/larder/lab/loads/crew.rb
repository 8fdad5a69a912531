# frozen_string_literal: true

# Forks the processes that call one store together, before anything of a store is loaded, so that none inherits a
# connection. Each opens the store when it is told to. They end when the process that forked them does.

require "json"
require_relative "../contenders"
require_relative "../errors"
require_relative "herd"
require_relative "mix"

module Larder
  module Lab
    module Loads
      # Several processes, asked in turn by lines of JSON.
      class Crew
        # One process as it is seen from outside.
        Member = Struct.new(:pid, :orders, :answers, keyword_init: true)

        # @param size [Integer]
        # @param job [Hash{String=>Object}] of the worker
        def initialize(size, job)
          @job = job
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
        # @param order [Hash] "do" => "open"; "mix" with "mix", "start" and "seconds"; or a method of {Herd} with its
        #   arguments
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
            Service.new(@job, number, orders, answers_writer).run
          ensure
            exit!(0) # runs nothing that this process has inherited
          end
          [orders, answers_writer].each(&:close)
          Member.new(pid: pid, orders: orders_writer, answers: answers)
        end

        # One process as it is inside.
        class Service
          # @param job [Hash{String=>Object}]
          # @param number [Integer]
          # @param orders [IO]
          # @param answers [IO]
          def initialize(job, number, orders, answers)
            @job = job
            @number = number
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
            loop { answer { serve(waiting.pop) } }
          end

          private

          def answer
            @answers.puts(JSON.generate(yield))
            @answers.flush
          rescue Unavailable => error
            @answers.puts(JSON.generate(unavailable: error.message))
          rescue StandardError, LoadError => error
            warn error.full_message(highlight: false)
            @answers.puts(JSON.generate(invalid: "#{error.class}: #{error.message.lines.first.to_s.strip}"))
          end

          def serve(order)
            case (name = order["do"])
            when "open" then open_store(order["endpoint"])
            when "mix" then mix(order)
            else Herd.new(@store, @job).public_send(name, **order.except("do").transform_keys(&:to_sym))
            end
          end

          def open_store(endpoint)
            type = Contenders.fetch(@job["contender"])
            @store = type.new(dir: @job["dir"], endpoint: endpoint, threads: @job["crew_threads"] || 1).open.store
            Mix.fill(@store) unless type.shared?
            @store.read(["shared", 0]) # connects
            {}
          end

          def mix(order)
            Mix.new(@store, order["mix"], @number).run(order["start"], order["seconds"]).to_h
          end
        end
        private_constant :Service
      end
    end
  end
end
