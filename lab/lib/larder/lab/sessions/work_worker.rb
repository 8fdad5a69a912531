# frozen_string_literal: true

# The process that measures the session's part of a request: the middleware alone, over an endpoint that reads,
# changes or begins a session, less the same request without one. Started by Sessions::Rounds.

require_relative "worker"

module Larder
  module Lab
    module Sessions
      # Measures laps with and without sessions, one after the other, so that a slow moment hits both.
      class WorkWorker < Worker
        # Requests of a lap.
        LAP = 50
        # The first number of a user whose session begins while it is measured.
        NEWCOMERS = 1_000_000_000
        # One operation: seconds of all requests with a session, and without.
        Block = Struct.new(:calls, :seconds, :without) do
          # @return [Boolean] whether it has lasted long enough
          def long?(seconds)
            self.seconds >= seconds
          end
        end

        private

        def start
          store.definitions.each { |file| require file }
          store.ready
          @stack = Stack.new(ActionDispatch::Session.resolve_store(store.name), options)
        end

        def measure
          @popular = popular(signed_in: true)
          @turn = 0
          operations.each_key { |name| emit("block", part: "work", operation: name, **block(name).to_h) }
        end

        # By name: what a request does.
        def operations
          { "unchanged" => Stack::READ, "changed" => Stack::CHANGE, "new" => Stack::BEGIN_SESSION }
        end

        # First everyone comes once: code and connections are warm, and no session is due to be marked as used.
        def block(name)
          warm_up(name)
          block = Block.new(0, 0.0, 0.0)
          most = name == "new" ? [cookies.size / 10, 2 * LAP].max : Float::INFINITY
          GC.start
          lap(name, block) until block.long?(@job["seconds"]) || block.calls >= most
          block
        end

        def warm_up(name)
          return lap(name, Block.new(0, 0.0, 0.0)) unless name == "unchanged"

          @popular.each_slice(LAP) { lap(name, Block.new(0, 0.0, 0.0)) }
        end

        def lap(name, block)
          numbers = Array.new(LAP) { @popular[(@turn += 1) % @popular.size] }
          values = numbers.map { |number| value(name, number) }
          with = requests(operations[name], numbers, values, known: name != "new")
          without = requests(Stack::NONE, numbers, values, known: name != "new")
          runs = [[:call, with], [:call_without, without]]
          runs.reverse! if block.calls % (2 * LAP) == LAP
          took = runs.to_h { |way, list| [way, time(way, list)] }
          block.calls += LAP
          block.seconds += took[:call].first
          block.without += took[:call_without].first
          check(name, numbers, values, took[:call].last)
        end

        # Nothing that is there already is a change, and who begins a session is nobody who has one.
        def value(name, number)
          case name
          when "unchanged" then user(number)
          when "changed" then @turn += 1
          when "new" then NEWCOMERS + (2 * random.rand(NEWCOMERS))
          end
        end

        # known: of users who bring a cookie.
        def requests(act, numbers, values, known:)
          numbers.zip(values).map { |number, value| stack.request(act, (cookies[number] if known), value) }
        end

        def time(way, list)
          answers = Array.new(list.size)
          started = now
          list.each_with_index { |request, at| answers[at] = stack.public_send(way, request) }
          [now - started, answers]
        end

        # Each has answered what is right for its own session, and what the last one wrote is there.
        def check(name, numbers, values, answers)
          numbers.each_with_index do |number, at|
            demand(values[at], Stack.value(answers[at]), "session #{number}")
            cookies[number] = Stack.cookie(answers[at]) || cookies[number] unless name == "new"
          end
          check_last(name, numbers.last, values.last, answers.last)
        end

        def check_last(name, number, value, answer)
          case name
          when "changed"
            demand(value, stack.visit(Stack::SEEN, cookies[number]).first, "session #{number} after a change")
          when "new"
            cookie = Stack.cookie(answer) or raise Invalid, "a new session got no cookie: it could not be kept"
            demand(value, stack.visit(Stack::READ, cookie).first, "a new session")
          end
        end
      end
    end
  end
end

Larder::Lab::Sessions::WorkWorker.main if $PROGRAM_NAME == __FILE__
