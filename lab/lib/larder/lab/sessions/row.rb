# frozen_string_literal: true

require "digest"
require_relative "../contender_declaration"
require_relative "../contenders/own_place"

module Larder
  module Lab
    # The comparison of session stores, and of the cost of questions about sessions.
    # @api private
    module Sessions
      # The base of the rows of both comparisons: how each is opened, with its sessions loaded. A subclass has
      # `connect`, and `load` its sessions. The command itself reads the class methods; instances live in worker
      # processes.
      class Row
        include ContenderDeclaration

        # Sessions that are loaded first, as published; how many requests or questions are about; how many begin at once
        # where a store can do many together.
        SESSIONS = 10_000
        POPULAR = 1000
        TOGETHER = 1000
        SEED = 1

        # It has the directory `dir`. Its server listens at `endpoint`, and the application's database at `companion`.
        def initialize(dir:, endpoint: nil, companion: nil, **)
          @dir = dir
          @endpoint = endpoint
          @companion = companion
        end

        # Loads the sessions.
        def open
          activate_gems
          connect
          load
          self
        rescue LoadError => error
          raise Unavailable, "its gems are not all there: lab/gemfiles/#{self.class.bundle}.gemfile names them, and " \
                             "bin/lab compiles larder (#{error.message})"
        end

        # Sessions stay between blocks.
        def clear; end

        private

        attr_reader :dir, :endpoint

        # In a server of the user's nothing stays for ever, and nobody's keys are met.
        def apart? = endpoint && !endpoint["private"]

        # Has the lab's schema or database. Answers options of Active Record.
        def own_place(type) = type.new(endpoint).settle.database

        def no_answer(error) = Unavailable.new("its server does not answer: #{error.message.lines.first.to_s.strip}")
      end

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

        class << self
          # The id of a session's user. Sessions are numbered from 0.
          def user(number) = FIRST_USER + number

          def signed_in?(user) = user.even?

          # A user's session: it holds about as much as an ordinary one.
          def values(user)
            values = { "visited" => user, "_csrf_token" => TOKEN, "seen" => 0 }
            signed_in?(user) ? values.merge("user_id" => user) : values
          end

          # The numbers of `count` of `size` sessions whose users have signed in (true), and of as many that have not.
          def sample(size, count, random)
            [true, false].to_h do |signed_in|
              numbers = (0...size).select { |number| signed_in?(user(number)) == signed_in }
              [signed_in, numbers.sample(count, random: random)]
            end
          end

          # The moment at which it is asked, near `time`: a minute before that nothing was in another hour.
          def moment(time) = time % HOUR < MINUTE ? time - MINUTE : time
        end

        attr_reader :size, :at

        # `size` counts sessions; `at` is in Unix seconds, see {.moment}.
        def initialize(size, at:)
          @size = size
          @at = at
        end

        # Unix seconds of a session's last use; later numbers were not used earlier.
        def used(number) = at - DAY + 1 + (number * DAY / size)

        # The session's id as stores keep it.
        def digest(number) = Digest::SHA256.hexdigest("larder-lab/#{size}/#{number}")

        # Counts the sessions that were used in the last seconds of that number, the first of them included.
        def active(seconds) = (0...size).count { |number| used(number) >= at - seconds }

        # The numbers of `count` sessions whose last use lies about a minute back: so far that they do not count as
        # active in the last second where answers are right to a minute.
        def of_a_minute_ago(count)
          last = size - active(MINUTE + 1)
          ([last - count, 0].max...last).to_a
        end
      end
    end
  end
end
