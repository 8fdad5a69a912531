# frozen_string_literal: true

# Builds the tables of what was measured: calls, traffic, how old answers are, two regions, the simulation.

require_relative "calls"
require_relative "presence"
require_relative "simulated"
require_relative "words"

module Larder
  module Lab
    module Layered
      # Sections of the report.
      class Tables
        include Words

        CALLS = [["trip", "text"], ["", "text"],
                 *Calls::KINDS.values.map { |name| [name, "seconds"] }].freeze
        TRAFFIC = [["trip", "text"], ["", "text"], ["reads/s", "integer"], ["by the file", "percent"],
                   ["by formula", "percent"], ["mean", "seconds"], ["p95", "seconds"]].freeze
        AGES = [["trip", "text"], ["", "text"], ["changes", "integer", 1], ["p50", "seconds"],
                ["p99", "seconds"], ["max", "seconds"], ["since begin", "seconds"], ["bound", "seconds"]].freeze
        REGIONS = [["", "text"], ["read", "seconds"], ["by files", "percent"], ["near max", "seconds"],
                   ["far p50", "seconds"], ["far max", "seconds"], ["bound", "seconds"]].freeze
        SIMULATION = [["", "text"], ["formula", "number"], ["counted", "number"], ["off by", "percent"]].freeze
        # A percentile that the reads of a visit are enough for.
        TAIL = 0.95

        # @param results [Results]
        def initialize(results)
          @results = results
          @plan = results.plan
        end

        # @return [Array<Document::Section>]
        def sections
          [summary, *@plan.remotes.map { |remote| calls(remote) }, traffic, ages, regions, simulation].compact
        end

        # Seconds after which no answer is what was before, by the options of the run.
        # @param arrangement [String]
        # @param topology [Topology, nil]
        # @return [Float]
        def bound(arrangement, topology = nil)
          return @plan.expires_in if topology&.each?

          { "bare" => 0.0, "copies" => @plan.expires, "backplane" => Plan::LONGER }.fetch(arrangement)
        end

        private

        # What a reader wants first.
        def summary
          near, far = @plan.watched.minmax
          rows = Arrangement::NAMES.filter_map do |arrangement|
            seen = [near, far].uniq.map { |rtt| @results.traffic(arrangement, rtt) }
            next unless seen.all?

            [title(arrangement), *seen.map { |each| each.times.mean }, seen.last.age(50), seen.last.age(100),
             bound(arrangement)]
          end
          columns = [["", "text"], *[near, far].uniq.map { |rtt| ["read, #{trip(rtt)}", "seconds"] },
                     ["seen, p50", "seconds"], ["max", "seconds"], ["bound", "seconds"]]
          section("In short", table(columns, rows, notes: SUMMARY_NOTES))&.tap { |short| short.headline = true }
        end

        SUMMARY_NOTES = ["read: the mean, while another machine changes values; seen: until this machine saw a " \
                         "change, from when the write had returned there; bound: whatever fails."].freeze
        private_constant :SUMMARY_NOTES

        def calls(remote)
          rows = @plan.rtts.product(Arrangement::NAMES).filter_map do |rtt, arrangement|
            seconds = Calls::KINDS.keys.map { |kind| @results.calls(remote, arrangement, rtt, kind) }
            [trip(rtt), short(arrangement), *seconds.map { |all| Statistics.median(all) }] if seconds.all?(&:any?)
          end
          notes = [(CALL_NOTES if remote == @plan.remotes.first), rounds].compact
          section("Time of a call: #{remote}", table(CALLS, rows, notes: notes))
        end

        CALL_NOTES = "hit: of a copy in the machine's file, or, alone, of what the remote store has; ten hits: one " \
                     "after the other, as a page with ten fragments; miss: no copy, the remote store has it; " \
                     "read_multi: ten keys without copies, one call; local: the same machine, by a Unix socket."
        private_constant :CALL_NOTES

        def rounds
          @plan.rounds == 1 ? "One visit each." : "Median of #{@plan.rounds} visits; all of them are in --json."
        end

        def each_traffic
          @plan.watched.product(Arrangement::NAMES).filter_map do |rtt, arrangement|
            seen = @results.traffic(arrangement, rtt)
            [trip(rtt), short(arrangement), *yield(seen, arrangement, rtt)] if seen
          end
        end

        def traffic
          rows = each_traffic do |seen, arrangement, rtt|
            [seen.reads, seen.hit_ratio, formula(seen, arrangement, rtt), seen.times.mean, seen.times.percentile(TAIL)]
          end
          section("A machine that reads while another changes", table(TRAFFIC, rows, notes: [traffic_notes]), curves)
        end

        # The same means as lines over the round trip.
        def curves
          series = Arrangement::NAMES.filter_map do |arrangement|
            points = @plan.watched.filter_map do |rtt|
              seen = @results.traffic(arrangement, rtt)
              [rtt, seen.times.mean] if seen&.times&.mean
            end
            { label: title(arrangement), points: points, highlight: arrangement == "backplane" } if points.size > 1
          end
          return if series.empty?

          Document::Curves.build(title: "Mean of a read, over the round trip", sentence: curve_sentence(series),
                                 x: { title: "round trip", format: "seconds" }, series: series,
                                 y: { title: "mean of a read", scale: "log", format: "seconds" })
        end

        def curve_sentence(series)
          ends = series.map do |line|
            "#{line[:label]} from #{duration(line[:points].first.last)} to #{duration(line[:points].last.last)}"
          end
          "The mean of a read, as the round trip grows from #{duration(@plan.watched.first)} to " \
            "#{duration(@plan.watched.last)}: #{ends.join(", ")}."
        end

        def traffic_notes
          "#{count(@plan.reads)} reads a second of #{count(@plan.keys)} keys by five threads, " \
            "#{times(@plan.changes)} changes a second by the other machine, both by Zipf's law with exponent " \
            "#{@plan.skew}. Fewer reads: all threads were waiting. by the file: all but what redis was asked for; by " \
            "formula: of copies that live for local_expires_in. With a backplane all copies are there at the " \
            "beginning."
        end

        def formula(seen, arrangement, rtt)
          return if arrangement != "copies"

          Presence.hit_ratio(keys: @plan.keys, skew: @plan.skew, reads: seen.reads, own: 0.0, foreign: 0.0, rtt: rtt,
                             expires: @plan.expires)
        end

        def ages
          rows = each_traffic do |seen, arrangement, _|
            [seen.ages.size, *[50, 99, 100].map { |percent| seen.age(percent) }, seen.age_from_begin,
             bound(arrangement)]
          end
          section("How old an answer is after a change on another machine", table(AGES, rows, notes: AGE_NOTES))
        end

        AGE_NOTES = ["From when the write had returned there until the last read here that answered what was before; " \
                     "0: none did. since begin: the middle of the same, from when the write began. bound: no read " \
                     "that begins later answers it, whatever fails. With fewer than 1,000 changes p99 is near the " \
                     "longest. A process sends one message after the other, so changes wait for each other where the " \
                     "backplane is far."].freeze
        private_constant :AGE_NOTES

        def regions
          rows = Plan::TOPOLOGIES.filter_map do |topology|
            near, far = @results.regions(topology)
            next unless far

            [topology.title, far.times.mean, far.hit_ratio, near.age(100), far.age(50), far.age(100),
             bound(topology.arrangement, topology)]
          end
          section("Two regions", table(REGIONS, rows, notes: region_notes)) if rows.any?
        end

        def region_notes
          ["redis is #{duration(@plan.near)} from machines of its region and #{duration(@plan.far)} from those of " \
           "the other. Changes are in the first region. read: the mean in the other region, in the traffic of above; " \
           "near max: the longest until a change was seen in its own region; far: until it was seen in the other.",
           "each: a remote store in each region. Nothing tells the second one of the change. It has the old value " \
           "until it expires (expires_in: #{duration(@plan.expires_in)} here), and then it is computed anew. The " \
           "same holds for deletes."]
        end

        def simulation
          fleet, counted = @results.simulation
          return unless fleet

          rows = Simulated.rows(fleet, counted)
          section("The formulae beside a Redis that counts",
                  table(SIMULATION, rows, notes: [simulation_notes(fleet)]))
        end

        def simulation_notes(fleet)
          "#{fleet.machines} machines with #{fleet.workers} processes each, #{count(fleet.reads)} reads and " \
            "#{times(fleet.changes)} changes a second of #{fleet.keys} keys, local_expires_in " \
            "#{duration(fleet.expires)}, one Redis as remote store and backplane. The formula gets the rates that " \
            "were reached."
        end
      end
    end
  end
end
