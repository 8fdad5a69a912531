# frozen_string_literal: true

# The process that measures questions about sessions: loads the sessions unless an earlier process did, asks, and
# compares each answer with the right one. Started by SessionStats::Rounds.

require_relative "../sessions/worker"
require_relative "population"
require_relative "stores"

module Larder
  module Lab
    module SessionStats
      # Measures every question at every size.
      class Worker < Sessions::Worker
        # A lap takes such a part of a block, and has so many calls at most.
        PART = 20
        LONGEST = 1000
        # Uses that are noted one after the other.
        USES = 50
        # A block whose clock stands still at times, while sessions are put back, lasts so many times as long at most.
        PATIENCE = 2
        # Loaded sessions between two lines of progress.
        EVERY = 20_000
        # By name: the question, seconds that it is about or nil, and whether it is about users who have signed in.
        ASKED = { "logged-in" => ["logged-in", nil, true], "logged-out" => ["logged-in", nil, false],
                  "last-seen" => ["last-seen", nil, true], "for" => ["for", nil, true],
                  "active-5m" => ["active", 300, nil], "active-1d" => ["active", Population::DAY, nil],
                  "all" => ["all", nil, nil] }.freeze

        private

        def registry
          Stores
        end

        def start
          store.definitions.each { |file| require file }
          store.ready
        end

        # All sizes, before anything is measured.
        def load_sessions
          @populations = @job["sizes"].map { |size| Population.new(size, at: @job["at"]) }
          @populations.each { |population| load_population(population) unless there?(population) }
        end

        def there?(population)
          store.lasting? && File.exist?(mark(population))
        end

        def mark(population)
          File.join(@job["dir"], "loaded-#{population.size}")
        end

        def load_population(population)
          store.take(population)
          started = now
          shown = 0
          store.load do |loaded|
            next if loaded < shown

            emit("loading", size: population.size, loaded: loaded)
            shown += EVERY
          end
          seconds = now - started
          emit("loaded", size: population.size, seconds: seconds, signed_in: population.signed_in,
                         data_bytes: population.data_bytes, **store.weigh)
          File.write(mark(population), "") if store.lasting?
        end

        # Every question is answered rightly once, and a use that is noted is counted.
        def prove
          @populations.each do |population|
            store.take(population)
            ASKED.each_key { |name| lap(name, population, 1) }
            uses(population)
          end
        end

        def measure
          @populations.each do |population|
            store.take(population)
            ASKED.each_key { |name| emit("block", size: population.size, question: name, **asked(name, population)) }
            emit("block", size: population.size, question: "use", **noted(population))
          end
          store.leave
        end

        # Laps that become longer until they are long enough warm up; then those follow that count.
        def asked(name, population)
          calls = 1
          calls = [calls * 2, LONGEST].min while lap(name, population, calls) < share && calls < LONGEST
          GC.start
          block(calls) { lap(name, population, calls) }
        end

        def noted(population)
          uses(population)
          GC.start
          block(USES) { uses(population) }
        end

        def share
          @job["seconds"] / PART
        end

        def block(calls)
          taken = { calls: 0, seconds: 0.0 }
          limit = now + (PATIENCE * @job["seconds"])
          loop do
            taken[:seconds] += yield
            taken[:calls] += calls
            return taken if taken[:seconds] >= @job["seconds"] || now > limit
          end
        end

        # Seconds of so many calls, of which every answer is right.
        def lap(name, population, calls)
          question, seconds, signed_in = ASKED.fetch(name)
          numbers = signed_in.nil? ? [nil] : sampled(population, signed_in)
          numbers = Array.new(calls) { numbers[random.rand(numbers.size)] }
          arguments = numbers.map { |number| number ? population.user(number) : seconds }
          took, answers = time(store.questions.fetch(question), arguments)
          answers.zip(numbers) { |answer, number| check(name, population, number, store.plain(answer)) }
          took
        end

        # Users who are asked about: those of a popular minute.
        def sampled(population, signed_in)
          (@sampled ||= {})[[population.size, signed_in]] ||=
            population.sample(POPULAR, random, signed_in: signed_in)
        end

        def time(call, arguments)
          answers = Array.new(arguments.size)
          started = now
          arguments.each_with_index { |argument, at| answers[at] = call.call(argument) }
          [now - started, answers]
        end

        def check(name, population, number, answer)
          case name
          when "logged-in", "logged-out" then demand(name == "logged-in", answer, "#{name} of session #{number}")
          when "last-seen" then near(population.used(number), answer, "session #{number} was last used at")
          when "for" then check_list(population, number, answer)
          when "all" then demand(population.size, answer, "all sessions")
          else counted(population, ASKED.fetch(name)[1], answer)
          end
        end

        def check_list(population, number, times)
          demand(1, times.size, "sessions of user #{population.user(number)}")
          near(population.used(number), times.first, "session #{number} was last used at")
        end

        def near(expected, actual, what)
          seconds = store.grain(0)
          right = actual && (expected - actual).abs <= seconds
          raise Invalid, "a wrong value: #{what} #{actual.inspect} instead of #{expected}" unless right
        end

        # As right as is documented.
        def counted(population, seconds, answer)
          range = population.active(seconds)..population.active(seconds + store.grain(seconds))
          return if range.cover?(answer)

          raise Invalid, "a wrong value: #{answer.inspect} sessions in the last #{seconds} s, which are #{range}"
        end

        # Seconds of notes that so many sessions were used, whose last use was a minute ago. All are counted afterwards.
        def uses(population)
          active = store.questions.fetch("active")
          before = active.call(1)
          numbers = population.of_a_minute_ago(USES)
          store.noting(numbers) do |list|
            took, = time(store.note, list)
            demand(before + numbers.size, active.call(1), "sessions used just now")
            took
          end
        end
      end
    end
  end
end

Larder::Lab::SessionStats::Worker.main if $PROGRAM_NAME == __FILE__
