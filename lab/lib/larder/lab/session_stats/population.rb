# frozen_string_literal: true

# The sessions that are loaded: whose each is, and when it was last used. Answers about them are compared with this.

require "digest"
require "json"

module Larder
  module Lab
    # What questions about sessions cost.
    module SessionStats
      # Sessions that were begun and last used within a day, evenly, one after the other. Each has a user of its own;
      # every second user is signed in.
      class Population
        # Seconds of the day.
        DAY = 86_400
        MINUTE = 60
        HOUR = 3600
        # What the first user is called.
        FIRST_USER = 1000

        # @param time [Integer] Unix seconds
        # @return [Integer] the moment at which it is asked: a minute before that nothing was in another hour
        def self.moment(time)
          time % HOUR < MINUTE ? time - MINUTE : time
        end

        # @return [Integer] sessions
        attr_reader :size
        # @return [Integer] Unix seconds at which it is asked
        attr_reader :at

        # @param size [Integer]
        # @param at [Integer] Unix seconds, see {.moment}
        def initialize(size, at:)
          @size = size
          @at = at
        end

        # @param number [Integer] of a session, from 0
        # @return [Integer] id of its user
        def user(number)
          FIRST_USER + number
        end

        # @param number [Integer]
        # @return [Boolean]
        def signed_in?(number)
          Sessions::Stack.signed_in?(user(number))
        end

        # @param number [Integer]
        # @return [Hash{String=>Object}] what the session holds
        def values(number)
          Sessions::Stack.values(user(number))
        end

        # @param number [Integer]
        # @return [Integer] Unix seconds of its last use; later numbers were not used earlier
        def used(number)
          at - DAY + 1 + (number * DAY / size)
        end

        # @param number [Integer]
        # @return [String] the session's id as stores keep it: a digest
        def digest(number)
          Digest::SHA256.hexdigest("larder-lab/#{size}/#{number}")
        end

        # @param seconds [Integer]
        # @return [Integer] sessions that were used in the last so many seconds, the first of them included
        def active(seconds)
          first = (0...size).bsearch { |number| used(number) >= at - seconds }
          first ? size - first : 0
        end

        # @param count [Integer]
        # @return [Array<Integer>] numbers of so many sessions whose last use lies at least, and about, a minute back
        def of_a_minute_ago(count)
          last = size - active(MINUTE - 1)
          ([last - count, 0].max...last).to_a
        end

        # @param signed_in [Boolean]
        # @param count [Integer]
        # @param random [Random]
        # @return [Array<Integer>] numbers of so many sessions at most, whose users have signed in, or have not
        def sample(count, random, signed_in:)
          (0...size).select { |number| signed_in?(number) == signed_in }.sample(count, random: random)
        end

        # @return [Hash{Symbol=>Integer}] bytes of the values of all sessions as JSON, and of those that are signed in
        def data_bytes
          signed_in, others = (0...size).partition { |number| signed_in?(number) }.map do |numbers|
            numbers.sum { |number| JSON.generate(values(number)).bytesize }
          end
          { all: signed_in + others, signed_in: signed_in }
        end

        # @return [Integer] sessions of users who are signed in
        def signed_in
          (0...size).count { |number| signed_in?(number) }
        end
      end
    end
  end
end
