# frozen_string_literal: true

# The base of stores that are asked about sessions: loads the sessions, and proves that each answer is right before it
# is measured.

require_relative "../contender_declaration"
require_relative "population"

module Larder
  module Lab
    module SessionStats
      # A subclass implements {#connect}, {#load}, {#bytes}, {#ask}, {#uses}, {#restore} and {#grain}.
      class Row
        include ContenderDeclaration

        # Sessions, as many as were published, and users who are asked about.
        SESSIONS = 10_000
        POPULAR = 1000
        # Sessions that begin at once where a store can do many together.
        TOGETHER = 1000
        # Uses that are noted to prove that they are counted.
        USES = 50
        SEED = 1
        # Seconds of the questions about activity.
        WINDOWS = { active_5m: 300, active_1d: Population::DAY }.freeze

        class << self
          private

          def registry
            Stores
          end
        end

        # @param dir [String] a directory of its own
        # @param endpoint [Hash{String=>Object}, nil] where its server listens, see {Endpoint}
        def initialize(dir:, endpoint: nil, **)
          @dir = dir
          @endpoint = endpoint
          @random = Random.new(SEED)
        end

        # Loads the sessions.
        # @return [self]
        # @raise [Unavailable] naming what is missing and how to get it
        def open
          activate_gems
          require_relative "../sessions/stack"
          @population = Population.new(SESSIONS, at: Population.moment(Time.now.to_i))
          connect
          load
          @popular = [true, false].to_h { |signed| [signed, @population.sample(POPULAR, @random, signed_in: signed)] }
          self
        end

        # Sessions stay between blocks.
        # @return [void]
        def clear; end

        # Each question is answered rightly, and a use that is noted is counted.
        # @param count [Integer] users who are asked about
        # @return [void]
        # @raise [Invalid]
        def prove(count)
          Questions::ALL.each_key do |name|
            question = question(name)
            count.times { |turn| question.call(turn) or raise Invalid, "a wrong value: #{Questions::ALL.fetch(name)}" }
          end
          prove_use(@population.of_a_minute_ago(USES))
        end

        # @param name [Symbol] of {Questions::ALL}
        # @return [#call] asks, and answers whether the answer is right
        def question(name)
          case name
          when :logged_in then about(true) { |number| logged_in?(number) }
          when :logged_out then about(false) { |number| !logged_in?(number) }
          when :last_seen then about(true) { |number| near?(number, ask(:last_seen, @population.user(number))) }
          when :for then about(true) { |number| one?(number, ask(:for, @population.user(number))) }
          when :all then ->(_) { ask(:all, nil) == SESSIONS }
          else ->(_) { counted?(WINDOWS.fetch(name), ask(:active, WINDOWS.fetch(name))) }
          end
        end

        # @return [#call] notes a use of a session whose last one was a minute ago; the next call takes it back
        def noting
          uses(@population.of_a_minute_ago(POPULAR))
        end

        # @return [Integer] bytes of a session, with everything that answers need
        def bytes_each
          bytes / SESSIONS
        end

        private

        attr_reader :dir, :endpoint

        def prove_use(numbers)
          right = ask(:active, 1) + numbers.size
          noting = uses(numbers)
          numbers.each_index { |turn| noting.call(2 * turn) }
          found = ask(:active, 1)
          numbers.each_index { |turn| noting.call((2 * turn) + 1) }
          restore(numbers)
          raise Invalid, "a wrong value: sessions used just now are #{found} instead of #{right}" if found != right
        end

        def about(signed_in)
          numbers = @popular[signed_in]
          ->(turn) { yield numbers[turn % numbers.size] }
        end

        def logged_in?(number)
          ask(:logged_in, @population.user(number))
        end

        def one?(number, times)
          times.size == 1 && near?(number, times.first)
        end

        def near?(number, time)
          !time.nil? && (@population.used(number) - time).abs <= grain(0)
        end

        # As right as is documented.
        def counted?(seconds, answer)
          (@population.active(seconds)..@population.active(seconds + grain(seconds))).cover?(answer)
        end
      end

      # The questions, in words.
      module Questions
        ALL = { logged_in: "is a user logged in, who is", logged_out: "is a user logged in, who is not",
                last_seen: "when was a user last seen", for: "the sessions of a user",
                active_5m: "sessions active in five minutes", active_1d: "sessions active in a day",
                all: "all sessions" }.freeze
      end
    end
  end
end
