# frozen_string_literal: true

require "test_helper"
require "larder/lab/layered/presence"

module Larder
  module Lab
    module Layered
      # The formula, beside what is known without it, and beside a key that lives through a million seconds.
      class PresenceTest < ActiveSupport::TestCase
        test "without changes a copy lives for local_expires_in, and then until it is read" do
          assert_in_delta 0.9, presence(expires: 9).under(1), 1e-9
          assert_in_delta 10 / 11.5, presence(expires: 10.5, rtt: 0.5).under(1), 1e-9
        end

        test "a copy that would have expired before it is there is none" do
          assert_equal 0.0, presence(expires: 0.1, rtt: 0.1).under(100)
          assert_equal 0.0, presence(expires: 5).under(0)
        end

        test "changes by others end a copy, changes by the machine itself make a new one" do
          still, told, own = [{}, { foreign: 1.0 }, { own: 1.0 }].map { |rates| presence(expires: 5, **rates).under(2) }
          assert_operator told, :<, still
          assert_operator own, :>, still
        end

        test "a simulated key is present for as long" do
          [[2.0, 0.0, 0.0, 1.5], [2.0, 0.3, 0.8, 1.5], [0.2, 0.0, 2.0, 60.0], [5.0, 1.0, 0.0, 0.3]].each do |rates|
            assert_in_delta simulated(*rates), presence(own: rates[1], foreign: rates[2], expires: rates[3])
              .under(rates[0]), 0.01, rates.inspect
          end
        end

        test "popular keys are there for nearly all of the time, and keys taken together lose little" do
          shares = Hitratio::Ranks.new(20_000, 0.9).shares
          assert_in_delta 1.0, shares.sum, 1e-9
          exact = shares.sum { |share| share * presence(expires: 5).under(1000 * share) }
          rates = { own: 0.0, foreign: 0.0, expires: 5, rtt: 0.0 }
          assert_in_delta exact, Presence.hit_ratio(keys: 20_000, skew: 0.9, reads: 1000, **rates), 1e-4
        end

        private

        def presence(own: 0.0, foreign: 0.0, expires: 1, rtt: 0.0)
          Presence.new(own: own, foreign: foreign, expires: expires, rtt: rtt)
        end

        # Events of a key in the order of time, at random: the share of reads that find a copy.
        def simulated(reads, own, foreign, expires)
          random = Random.new(1)
          time = until_then = 0.0
          asked = found = 0
          200_000.times do
            time -= Math.log(1 - random.rand) / (reads + own + foreign)
            which = random.rand * (reads + own + foreign)
            asked += 1 if which < reads
            if which < reads && time < until_then then found += 1
            else until_then = which < reads + own ? time + expires : time
            end
          end
          found.fdiv(asked)
        end
      end
    end
  end
end
