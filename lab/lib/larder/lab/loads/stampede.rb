# frozen_string_literal: true

require_relative "crew"
require_relative "herd"
require_relative "load"

module Larder
  module Lab
    module Loads
      # Many callers want one key: while it is absent, after the process that computes it was killed, and while it
      # expires.
      #
      # Job: processes and their threads; readers, how many of the processes read an expiring value; block, seconds that
      # a value takes; keys, how many are wanted; deaths, how many processes are killed; seconds of reading.
      class Stampede < Load
        Loads.register("stampede", self)

        # Seconds in which all callers hear of a start and are ready.
        NOTICE = 0.1
        # The process that is to be killed begins earlier by this share of the block.
        LEAD = 0.2

        # Forks while nothing of a store is loaded.
        # @return [void]
        def prepare
          @herd = job["processes"]
          @deaths = Contenders::SingleFlights.own?(job["contender"]) ? job["deaths"] : 0
          @all = @herd + @deaths
          @crew = Crew.new(@all, job)
        end

        private

        def measure
          @crew.ask(@all, do: "open", endpoint: job["endpoint"]&.merge("joined" => true))
          rush(["warm", 0], count: @all) # connects
          job["keys"].times { |number| emit("rush", of: "absent", **told(rush(["key", number]))) }
          deaths
          Herd::WORK.each_key { |work| emit("refresh", work: work, **refresh(work)) }
        ensure
          @crew.dismiss
        end

        def rush(key, start: now + NOTICE, count: @herd)
          @crew.ask(count, do: "rush", key: key, start: start).flat_map { |answer| answer["callers"] }
        end

        # One that did not die, because another began before it, shows nothing.
        def deaths
          random = Random.new(job["seed"])
          lead = job["block"] * LEAD
          @deaths.times do |number|
            key, start = ["killed", number], now + NOTICE
            dies = Thread.new { died?(@herd + number, key, start, random.rand(lead..job["block"])) }
            callers = rush(key, start: start + lead)
            emit("rush", of: "killed", **told(callers)) if dies.value
          end
        end

        def died?(member, key, start, after)
          @crew.ask(1, from: member, do: "die", key: key, start: start, after: after)
          false
        rescue Crew::Ended
          true
        end

        # runs: of the block; answers: different values; none: callers who got no value; waits: of the others, a
        # histogram; busy and waited: seconds of those who got a value that another computed.
        def told(callers)
          none, answered = callers.partition { |caller| caller["value"].to_s.empty? }
          check(answered.map { |caller| caller["value"] }, made = callers.filter_map { |caller| caller["made"] })
          served = answered.reject { |caller| caller["made"] }
          { runs: made.size, answers: answered.map { |caller| caller["value"] }.uniq.size, none: none.size,
            waits: histogram(answered), busy: served.sum { |caller| caller["busy"] },
            waited: served.sum { |caller| caller["wait"] } }
        end

        def check(values, made)
          strange = values - made
          raise Invalid, "a wrong value: #{shown(strange.first)}, which no block made" if strange.any?
        end

        def histogram(callers)
          callers.each_with_object(Histogram.new) do |caller, all|
            all.record((caller["wait"] / Histogram::SECONDS).round)
          end.to_h
        end

        # expiries: how often the block ran, once or more; runs: of the block; plain and during: histograms.
        def refresh(work)
          answers = @crew.ask(job["readers"], do: "read", key: ["expiring", work], start: now + NOTICE,
                                              seconds: job["seconds"], work: work)
          odd = answers.filter_map { |answer| answer["wrong"] }.first
          wrong!(["expiring", work], odd.first, Herd::VALUE) if odd

          runs = answers.flat_map { |answer| answer["runs"] }
          during, plain = answers.flat_map { |answer| answer["slices"].to_a }.partition { |at, _| within?(at, runs) }
          { expiries: united(runs), runs: runs.size, plain: merged(plain), during: merged(during) }
        end

        def within?(slice, runs)
          slice = slice.to_i
          runs.any? { |first, last| slice.between?((first / Herd::SLICE).floor, (last / Herd::SLICE).floor) }
        end

        # How many there are if those that overlap are one.
        def united(runs)
          busy = -Float::INFINITY
          runs.sort.count do |first, last|
            apart = first > busy
            busy = [busy, last].max
            apart
          end
        end

        def merged(slices)
          Histogram.merge(slices.map { |_, histogram| Histogram.from_h(histogram) }).to_h
        end
      end
    end
  end
end
