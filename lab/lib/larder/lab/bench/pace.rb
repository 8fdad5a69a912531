# frozen_string_literal: true

require_relative "../clock"

module Larder
  module Lab
    module Bench
      # Decides how much a run still measures, so that it takes no longer than it may: adds up the seconds of each kind
      # of work. Passes are what can be cut first, {LEAST_PASSES} of a session stay; then sessions, as many stay as a
      # verdict needs.
      class Pace
        include Clock

        # Fewer passes of a session are not measured.
        LEAST_PASSES = 2
        # The part of a session that is planned for turns before one has been measured.
        SHARE_OF_TURNS = 0.5
        # The work of a session: processes and servers start, blocks store their entries and warm up, turns are taken,
        # and all is stopped.
        KINDS = %i[starting preparing turns stopping].freeze

        # spent: seconds of the run so far by {KINDS}; passes: of each block in the next session.
        attr_reader :spent, :passes

        # `limit` is the seconds of the whole run (nil: any time). `needed` of the `sessions` are measured in any case,
        # with `passes` of each block at most. One pass of all blocks is expected to take `pass_seconds`.
        def initialize(limit:, sessions:, passes:, needed:, pass_seconds:)
          @limit = limit
          @sessions = sessions
          @most = @passes = passes
          @needed = needed
          @begun = now
          @spent = KINDS.to_h { |kind| [kind, 0.0] }
          @passes = fitting(limit / sessions * SHARE_OF_TURNS, pass_seconds) if limit
          @before = @spent.dup
        end

        # Counts the seconds of a block as this kind of work.
        def during(kind)
          started = now
          yield
        ensure
          @spent[kind] += now - started
        end

        # A session has ended: decides about the others.
        def end_session(taken = @spent.to_h { |kind, seconds| [kind, seconds - @before[kind]] }, elapsed = now - @begun)
          @before = @spent.dup
          @sessions -= 1
          @needed -= 1
          return unless @limit && @sessions.positive?

          left = @limit - elapsed
          pass = taken[:turns] / @passes
          rest = taken.values.sum - taken[:turns]
          @passes = fitting((left / @sessions) - rest, pass)
          @sessions -= 1 while @sessions > @needed && @sessions * (rest + (pass * @passes)) > left
        end

        # True if no session is left to be measured.
        def over? = @sessions < 1

        private

        def fitting(seconds, pass_seconds)
          return @most unless pass_seconds.positive?

          (seconds / pass_seconds).floor.clamp([LEAST_PASSES, @most].min, @most)
        end
      end
    end
  end
end
