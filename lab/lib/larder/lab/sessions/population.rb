# frozen_string_literal: true

# The sessions that are loaded: whose each is, what it holds, and when it was last used. Answers are compared with this.

require "digest"

module Larder
  module Lab
    # The comparison of session stores, and of the cost of questions about sessions.
    module Sessions
      # Sessions that were begun and last used within a day, evenly, one after the other. Each has a user of its own;
      # every second user is signed in.
      class Population
        # Seconds.
        MINUTE = 60
        HOUR = 3600
        DAY = 86_400
        # What the first user is called.
        FIRST_USER = 1000
        # As long as the real one.
        TOKEN = "q5LkZ0d3M1hT2c7XvB9nR8sW4yE6uJ0pQaGfKzNiOeY"
        private_constant :TOKEN

        class << self
          # @param number [Integer] of a session, from 0
          # @return [Integer] id of its user
          def user(number) = FIRST_USER + number

          # @param user [Integer]
          # @return [Boolean]
          def signed_in?(user) = user.even?

          # @param user [Integer]
          # @return [Hash{String=>Object}] what his session holds: about as much as an ordinary one
          def values(user)
            values = { "visited" => user, "_csrf_token" => TOKEN, "seen" => 0 }
            signed_in?(user) ? values.merge("user_id" => user) : values
          end

          # @param size [Integer] sessions
          # @param count [Integer] of them, at most
          # @param random [Random]
          # @return [Hash{Boolean=>Array<Integer>}] numbers of sessions whose users have signed in, or have not
          def sample(size, count, random)
            [true, false].to_h do |signed_in|
              numbers = (0...size).select { |number| signed_in?(user(number)) == signed_in }
              [signed_in, numbers.sample(count, random: random)]
            end
          end

          # @param time [Integer] Unix seconds
          # @return [Integer] the moment at which it is asked: a minute before that nothing was in another hour
          def moment(time) = time % HOUR < MINUTE ? time - MINUTE : time
        end

        # @return [Integer] sessions; Unix seconds at which it is asked
        attr_reader :size, :at

        # @param size [Integer]
        # @param at [Integer] Unix seconds, see {.moment}
        def initialize(size, at:)
          @size = size
          @at = at
        end

        # @param number [Integer]
        # @return [Integer] Unix seconds of its last use; later numbers were not used earlier
        def used(number) = at - DAY + 1 + (number * DAY / size)

        # @param number [Integer]
        # @return [String] the session's id as stores keep it: a digest
        def digest(number) = Digest::SHA256.hexdigest("larder-lab/#{size}/#{number}")

        # @param seconds [Integer]
        # @return [Integer] sessions that were used in the last seconds of that number, the first of them included
        def active(seconds)
          first = (0...size).bsearch { |number| used(number) >= at - seconds }
          first ? size - first : 0
        end

        # @param count [Integer]
        # @return [Array<Integer>] numbers of `count` sessions whose last use lies at least, and about, a minute back
        def of_a_minute_ago(count)
          last = size - active(MINUTE - 1)
          ([last - count, 0].max...last).to_a
        end
      end
    end
  end
end
