# frozen_string_literal: true

# The base of the tests of a store: how a question is asked, and what an answer is.

require "timeout"
require_relative "../clock"
require_relative "../errors"

module Larder
  module Lab
    module Features
      # A subclass lists its QUESTIONS, the names of its methods, in the order in which they are put. Each answers
      # [answer, note]: true, false, a number or a word,
      # and what was seen.
      class Probe
        include Clock

        # Seconds that one question may take.
        PATIENCE = 30

        # What was written could not be read: every other answer would be about nothing.
        class Lost < Error; end

        # @param store [ActiveSupport::Cache::Store]
        # @param job [Hash{String=>Object}]
        # @param peers [Array<Peer>]
        def initialize(store, job, peers = [])
          @store = store
          @job = job
          @peers = peers
        end

        # @param question [String]
        # @return [Hash{String=>Object}] "answer", "note"; of what failed, the first line of the error
        def ask(question)
          answer, note = Timeout.timeout(self.class::PATIENCE) { public_send(question) }
          { "answer" => answer, "note" => note }
        rescue Lost => error
          { "answer" => false, "note" => error.message }
        rescue StandardError, NotImplementedError, LoadError => error
          { "answer" => "error", "note" => "#{error.class}: #{error.message.lines.first.to_s.strip}" }
        end

        private

        attr_reader :store, :job, :peers

        # Writes and proves that it can be read.
        def keep(key, value, **options)
          store.write(key, value, **options)
          raise Lost, "what is written cannot be read" unless store.read(key) == value

          value
        end

        def peer
          peers.first || raise(Error, "there is no second process")
        end

        def wait_until(moment)
          left = moment - now
          sleep left if left.positive?
        end

        def seen?(key, value)
          store.read(key) == value
        end
      end
    end
  end
end
