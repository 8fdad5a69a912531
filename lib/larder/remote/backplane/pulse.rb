# frozen_string_literal: true

# When a listener asks its server for an answer, and when it gives up.

require "larder/remote/backplane/deadline"

module Larder
  module Remote
    class Backplane
      # All that is in the stream before an answer has been handled when the answer is. So copies were right when the
      # question was sent. A question is sent every second, unless the last one has no answer yet.
      # @api private
      class Pulse
        ROUND = 1
        # The shortest wait, as some clients take 0 for ever.
        SHORTEST = 0.001
        private_constant :ROUND, :SHORTEST

        def initialize
          @heard = Deadline.now
          @number = 0
        end

        # @return [Boolean] is it time to send a question?
        def due?
          !waiting? && (@asked_at.nil? || Deadline.now - @asked_at >= ROUND)
        end

        # A question is about to be sent.
        # @return [String] its text, which the answer repeats
        def ask
          @asked = Deadline.moment
          @asked_at = @asked.first
          (@number += 1).to_s
        end

        # @return [Boolean] has a question no answer yet?
        def waiting?
          !@asked.nil?
        end

        # @return [Boolean] is this the answer?
        def answer?(text)
          waiting? && text == @number.to_s
        end

        # @return [Array(Float, Float)] when the question was sent that has an answer now
        def answered
          @asked.tap { @asked = nil }
        end

        # @return [Float] seconds to wait for the server
        def wait
          [waiting? ? silent_at - Deadline.now : @asked_at + ROUND - Deadline.now, SHORTEST].max
        end

        # The server sent something.
        # @return [void]
        def heard
          @heard = Deadline.now
        end

        # The server sent nothing for {#wait} seconds. After a silence of {DEADLINE} it has failed.
        # @return [void]
        # @raise [Unreachable]
        def silent
          return unless waiting? && Deadline.now >= silent_at

          raise Unreachable, "no answer for #{DEADLINE} s"
        end

        private

        def silent_at
          [@heard, @asked_at].max + DEADLINE
        end
      end
    end
  end
end
