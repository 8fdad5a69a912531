# frozen_string_literal: true

# Builds the report chapter of `larder-lab layered`.

require_relative "../reference"
require_relative "model_tables"
require_relative "tables"

module Larder
  module Lab
    # Larder in front of a store that several machines share.
    module Layered
      # The chapter, with the model.
      class Chapter
        include Words

        LEAD = "Larder before a remote store, beside that store alone. A proxy adds the round trips; processes with " \
               "a file each stand for machines. The servers are private ones on this machine."
        # Seconds by which an answer may be older than its bound: between reading the source and storing the value.
        SLACK = 0.01
        # Formulae that are off by more are told of.
        OFF = 0.15

        # @param results [Results]
        def initialize(results)
          @results = results
          @plan = results.plan
          @tables = Tables.new(results)
          @model = ModelTables.new(@plan.fleet)
        end

        # @return [Document::Chapter]
        def to_chapter
          Document::Chapter.new(
            key: "layered", title: "Two levels: Larder before a remote store", lead: LEAD, facts: facts,
            sections: [*@tables.sections, *@model.sections, not_measured].compact, warnings: warnings,
            conclusions: [*hits, *slower, *seen, *regions, *checked, *@model.conclusions], measures: measures,
            failed: measures.empty? || invalid? || too_old.any?,
            details: { environment: @results.environment, plan: @plan.to_h.except(:directory),
                       versions: @results.versions, **@results.to_h }
          )
        end

        private

        def facts
          ["round trips of #{@plan.rtts.map { |rtt| trip(rtt) }.join(", ")}", "#{visits} for calls, one for traffic",
           "values of #{Reports::Figures.bytes(@plan.bytes)}", "seed #{@plan.seed}"]
        end

        def visits
          @plan.rounds == 1 ? "one visit" : "#{@plan.rounds} visits"
        end

        def median(arrangement, rtt, kind, remote = @plan.remotes.first)
          seconds = @results.calls(remote, arrangement, rtt, kind)
          Statistics.median(seconds) if seconds.any?
        end

        def hits
          remote = @plan.remotes.first
          hits = @plan.rtts.filter_map { |rtt| median("copies", rtt, "hit") }
          alone = @plan.rtts.filter_map { |rtt| (seconds = median("bare", rtt, "hit")) && [rtt, seconds] }
          return [] if hits.empty? || alone.empty?

          said = alone.map { |rtt, seconds| "#{duration(seconds)} (#{trip(rtt)})" }
          ["A read that the machine's file answers takes #{duration(Statistics.median(hits))}, wherever #{remote} " \
           "is. From #{remote} alone it takes #{said.join(", ")}."]
        end

        # What two levels cost: a miss, and a write.
        def slower
          rtt = @plan.near || @plan.rtts.first
          miss, alone = %w[copies bare].map { |arrangement| median(arrangement, rtt, "miss") }
          writes = %w[bare copies backplane].map { |arrangement| median(arrangement, rtt, "write") }
          return [] unless miss && alone && writes.all?

          remote = @plan.remotes.first
          ["#{place(rtt)}, a miss that #{remote} answers takes #{duration(miss)}, from #{remote} alone " \
           "#{duration(alone)}. A write takes #{duration(writes[1])}, with a backplane #{duration(writes[2])}, alone " \
           "#{duration(writes[0])}."]
        end

        def seen
          rtt = @plan.far || @plan.rtts.last
          copies, told = %w[copies backplane].map { |arrangement| @results.traffic(arrangement, rtt) }
          return [] unless copies && told

          ["#{place(rtt)}, when the write on another machine had returned, #{old(told)} with a backplane, and " \
           "#{old(copies)} without one. The bound there is local_expires_in, #{duration(@plan.expires)} here."]
        end

        def old(seen)
          late = seen.ages.count { |age, _| age.positive? }
          most = " (#{duration(seen.age(100))} at most)" if late.positive?
          "#{late} of #{seen.ages.size} changes were not seen at once#{most}"
        end

        def regions
          found = Plan::TOPOLOGIES.to_h { |topology| [topology.key, @results.regions(topology)&.last] }
          one, each = found.values_at("one-backplane", "each-backplane")
          return [] unless one && each

          ["In another region, #{duration(@plan.far)} away, a read took #{duration(one.times.mean)} with one remote " \
           "store for both regions, and a change was seen #{duration(one.age(100))} after the write at most. With " \
           "one for each region it took #{duration(each.times.mean)}, and a change was seen after up to " \
           "#{duration(each.age(100))}: when the entry had expired."]
        end

        def checked
          fleet, counted = @results.simulation
          return [] unless fleet

          ["The formulae of the model are off by #{percent(Simulated.worst(fleet, counted))} at most, beside a Redis " \
           "under #{fleet.machines * fleet.workers} processes."]
        end

        def warnings
          [*too_old, missed, NOISE].compact
        end

        NOISE = "All machines, servers and the proxy share this machine's processors: they wait for each other, " \
                "which is in every time and most of all in the longest. The proxy adds some of its own."
        private_constant :NOISE

        # Whatever fails, this must not be.
        def too_old
          @too_old ||= ages.filter_map do |words, bound, seen|
            next if seen.nil? || seen.ages.empty? || seen.age(100) <= bound + SLACK

            "#{words}: an answer was #{duration(seen.age(100))} old, more than #{duration(bound)}. This is a fault."
          end
        end

        def ages
          @plan.watched.product(Arrangement::NAMES).map do |rtt, arrangement|
            ["#{title(arrangement)}, #{trip(rtt)}", @tables.bound(arrangement), @results.traffic(arrangement, rtt)]
          end + Plan::TOPOLOGIES.map do |topology|
            [topology.title, @tables.bound(topology.arrangement, topology), @results.regions(topology)&.last]
          end
        end

        def missed
          fleet, counted = @results.simulation
          return unless fleet && Simulated.worst(fleet, counted) > OFF

          "The formulae of the model are off by more than #{percent(OFF)}: the machine was busy, or they are wrong."
        end

        def invalid?
          @results.rejected.any? { |_, error| error.is_a?(Invalid) }
        end

        def not_measured
          items = @results.rejected.map do |task, error|
            "#{task}: #{"invalid, " if error.is_a?(Invalid)}#{error.message}"
          end
          section("Not measured", Document::List.new(items: items)) if items.any?
        end

        def measures
          @measures ||= call_measures + traffic_measures
        end

        def call_measures
          points = @plan.remotes.product(Arrangement::NAMES, @plan.rtts, Calls::KINDS.keys)
          points.filter_map do |remote, arrangement, rtt, kind|
            seconds = @results.calls(remote, arrangement, rtt, kind)
            next if seconds.empty?

            Document::Measure.new(key: "layered/#{remote}/#{arrangement}/#{(rtt * 1e6).round}us/#{kind}",
                                  unit: "seconds", base: (Reference::KEY if rtt.zero?), better: "lower",
                                  samples: seconds, label: "#{title(arrangement, remote)}: " \
                                                           "#{Calls::KINDS.fetch(kind)}, #{trip(rtt)}")
          end
        end

        def traffic_measures
          @plan.watched.product(Arrangement::NAMES - ["bare"]).filter_map do |rtt, arrangement|
            seen = @results.traffic(arrangement, rtt) or next
            Document::Measure.new(key: "layered/traffic/#{arrangement}/#{(rtt * 1e6).round}us/by-file", unit: "share",
                                  better: "higher", samples: [seen.hit_ratio],
                                  label: "#{title(arrangement)}: reads answered by the file, #{trip(rtt)}")
          end
        end
      end
    end
  end
end
