# frozen_string_literal: true

require_relative "../hitratio/synthetic"

module Larder
  module Lab
    module Layered
      # The part of the time in which a machine's file has a copy of a key. As reads arrive at random, it is also the
      # part of the reads that find it.
      #
      #   copy is stored                     ended by: local_expires_in, or a change on another machine
      #        |------------- lives -------------|---- nobody reads ----|-- asked --| copy is stored
      #
      # own, foreign: changes a second by this machine, which store a new copy, and by others, which end it if this one
      # is told; expires: local_expires_in, which begins when the remote store is asked; rtt: seconds that that takes.
      Presence = Struct.new(:own, :foreign, :expires, :rtt, keyword_init: true) do
        # @param reads [Float] of the key, a second
        # @return [Float] 0..1
        def under(reads)
          return 0.0 if expires <= rtt || (reads + own).zero?

          lifetime / (lifetime + ((1 + (reads * rtt)) / (reads + own)))
        end

        private

        # Seconds from when a copy is stored until there is none: until it expires or another machine changes the key,
        # unless this one does before.
        def lifetime
          @lifetime ||= begin
            time = expires - rtt
            rate = own + foreign
            ended = 1 - Math.exp(-rate * time)
            rate * time < 1e-9 ? time : ended / rate / (1 - (own / rate * ended))
          end
        end
      end

      class Presence
        # Ranks from here on are taken together, a hundredth of the rank at a time, which spares nearly all of the work.
        APART = 100

        # Shares of all requests by Zipf's law, and how many keys have each.
        # @param keys [Integer]
        # @param skew [Float]
        # @return [Array<Array(Float, Integer)>]
        def self.popular(keys, skew)
          (@popular ||= {})[[keys, skew]] ||= grouped(Hitratio::Ranks.new(keys, skew).shares)
        end

        def self.grouped(shares)
          rank = 0
          groups = []
          while rank < shares.size
            some = shares[rank, [rank / APART, 1].max]
            groups << [some.sum / some.size, some.size]
            rank += some.size
          end
          groups
        end
        private_class_method :grouped

        # Of one machine.
        # @param keys [Integer]
        # @param skew [Float]
        # @param reads [Float] a second
        # @param rates [Hash{Symbol=>Float}] own, foreign: changes a second of all keys; expires, rtt
        # @return [Float] the part of its reads that its file answers
        def self.hit_ratio(keys:, skew:, reads:, own:, foreign:, **rates)
          popular(keys, skew).sum do |share, count|
            count * share * new(own: own * share, foreign: foreign * share, **rates).under(reads * share)
          end
        end
      end
    end
  end
end
