# frozen_string_literal: true

# Builds the sections about stores: time of a call over round trips and over bandwidths, and its parts.

require_relative "model"
require_relative "wording"

module Larder
  module Lab
    module Network
      # Sections and conclusions about stores.
      class Stores
        include Wording

        # Round trips of a call from which they are mentioned.
        MANY = 1.5
        # Rounds without which they are not.
        LEAST_ROUNDS = 4
        PARTS = ["store and codec", "round trip", "sending"].freeze

        # @param results [Results]
        # @param model [Model]
        def initialize(results, model)
          @results = results
          @model = model
          @plan = results.plan
          @rows = results.measured(:stores)
        end

        # @return [Array<Document::Section>]
        def sections
          return [] if @rows.empty?

          [*@plan.payloads.map { |payload| over_rtt(payload) }, over_bandwidth, breakdown].compact
        end

        # @return [Array<String>]
        def conclusions
          networked.flat_map { |row| [share(row), beside_local(row), trips(row)].compact }
        end

        private

        attr_reader :results

        def networked
          @rows.select(&:server)
        end

        def local
          @rows.reject(&:server)
        end

        # A store without a network is the same everywhere.
        def at(row, point)
          row.server ? point : LOCAL
        end

        def rtt_points
          @plan.rtts.map { |rtt| Point.new(rtt, nil) }
        end

        def bandwidth_points
          @plan.bandwidths.map { |limit| Point.new(@plan.middle_rtt, limit) }
        end

        def over_rtt(payload)
          section("#{upper(payload_title(payload))}, over the round-trip time",
                  rtt_table(payload), *Model::OPERATIONS.map { |operation| rtt_curves(payload, operation) })
        end

        def rtt_table(payload)
          columns = [{ title: "" },
                     *rtt_points.map { |point| { title: duration(point.rtt), format: "seconds" } },
                     { title: "round trips", format: "number", optional: 1 }]
          cells = rows(payload, rtt_points) { |*place| interval(@model.trips(*place)) }
          Document::Table.build(columns: columns, rows: cells,
                                caption: "Time per call by round-trip time, without a limit of bandwidth",
                                notes: ["Round trips: how many a call waits for, from what the longest adds."])
        end

        def rows(payload, points)
          @rows.product(Model::OPERATIONS).map do |row, operation|
            figures = points.map { |point| cell(row, payload, operation, at(row, point)) }
            ["#{row.name}, #{operation}", *figures, *([yield(row, payload, operation)] if block_given?)]
          end
        end

        def rtt_curves(payload, operation)
          curves("#{upper(operation)}s of #{payload_title(payload)}", payload, operation, rtt_points, :rtt,
                 rtt_sentence(payload, operation), title: "round-trip time", format: "seconds")
        end

        def curves(title, payload, operation, points, coordinate, sentence, **axis)
          series = @rows.filter_map do |row|
            found = points.filter_map do |point|
              median = results.median(row, payload, operation, at(row, point))
              [point[coordinate], median] if median
            end
            { label: row.name, points: found, highlight: row.name == "larder" } if found.any?
          end
          return if series.empty? || points.size < 2

          Document::Curves.build(title: title, sentence: sentence, x: axis, series: series,
                                 y: { title: "time per call", scale: "log", format: "seconds" })
        end

        def rtt_sentence(payload, operation)
          ends = networked.filter_map do |row|
            near, far = rtt_points.minmax_by(&:rtt).map { |point| results.median(row, payload, operation, point) }
            "#{row.name} from #{duration(near)} to #{duration(far)}" if near && far
          end
          constant = local.filter_map do |row|
            median = results.median(row, payload, operation, LOCAL)
            "#{row.name} #{duration(median)}" if median
          end
          grows = "as the round trip grows to #{duration(@plan.rtts.last)}, a #{operation} of " \
                  "#{payload_title(payload)} goes in #{ends.join(", in ")}"
          stays = "without a network it takes #{constant.join(", ")}"
          "#{upper([(grows if ends.any?), (stays if constant.any?)].compact.join("; "))}."
        end

        def over_bandwidth
          return if @plan.bandwidths.size < 2 || networked.empty?

          tables = @plan.payloads.map do |payload|
            columns = [{ title: "" }, *@plan.bandwidths.map { |limit| { title: bits(limit), format: "seconds" } }]
            caption = "#{upper(payload_title(payload))}: time per call by bandwidth, at a round trip of " \
                      "#{duration(@plan.middle_rtt)}"
            Document::Table.build(columns: columns, rows: rows(payload, bandwidth_points), caption: caption)
          end
          section("Over the bandwidth", *tables)
        end

        # At the middle of both.
        def breakdown
          return if networked.empty?

          point = bandwidth_points[bandwidth_points.size / 2]
          section("Where the time of a read goes", *@plan.payloads.map { |payload| stacked(payload, point) })
        end

        def stacked(payload, point)
          bars = @rows.filter_map do |row|
            values = @model.parts(row, payload, "read", at(row, point))
            { label: row.name, values: values, highlight: row.name == "larder" } if values
          end
          return if bars.empty?

          slowest = bars.max_by { |bar| bar[:values].sum }
          most, part = slowest[:values].zip(PARTS).max_by(&:first)
          sentence = "A read of #{payload_title(payload)} at #{place(point)}: of #{slowest[:label]}'s " \
                     "#{duration(slowest[:values].sum)}, #{percent(most / slowest[:values].sum)} is #{part}."
          Document::Stacked.build(title: "A read of #{payload_title(payload)}, #{place(point)}", sentence: sentence,
                                  x: { title: "time per read", format: "seconds" }, parts: PARTS, rows: bars)
        end

        def share(row)
          payload = @plan.payloads.first
          start, trip, sending = @model.parts(row, payload, "read", Point.new(@plan.middle_rtt, nil))
          return unless start && trip.positive?

          "A read of #{payload_title(payload)} from #{row.name} takes #{duration(start)} without a network; at a " \
            "round trip of #{duration(trip)}, that is #{percent(trip / (start + trip + sending))} of the time."
        end

        def beside_local(row)
          larder = local.find { |each| each.name == "larder" } || local.first
          point = Point.new(@plan.middle_rtt, nil)
          payload = @plan.payloads.first
          mine = results.seconds(row, payload, "read", point)
          theirs = larder ? results.seconds(larder, payload, "read", LOCAL) : []
          return if mine.empty? || mine.size != theirs.size

          ratio = Statistics.estimate(Statistics.paired_ratios(mine, theirs))
          "At #{duration(point.rtt)}, a read of #{payload_title(payload)} from #{row.name} takes " \
            "#{Reports::Figures.ratio(ratio)} times as long as from #{larder.name}, which needs no network."
        end

        # Said where it is not one, and chance is not likely to say so.
        def trips(row)
          return if @plan.rounds < LEAST_ROUNDS

          payload = @plan.payloads.first
          many = Model::OPERATIONS.filter_map do |operation|
            trips = @model.trips(row, payload, operation)
            next unless trips && trips.low > MANY

            "#{Reports::Figures.ratio(trips)} for a #{operation} of #{payload_title(payload)}"
          end
          "#{row.name} waits for more than one round trip a call: #{many.join(", ")}." if many.any?
        end
      end
    end
  end
end
