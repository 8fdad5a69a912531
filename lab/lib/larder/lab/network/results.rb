# frozen_string_literal: true

# Keeps what a run of `larder-lab network` measured: samples by row, payload, operation, point and round.

require_relative "../statistics"
require_relative "plan"

module Larder
  module Lab
    module Network
      # Raw figures of a run.
      class Results
        # seconds: of one call
        Sample = Struct.new(:row, :payload, :operation, :rtt, :bandwidth, :round, :seconds, :calls,
                            keyword_init: true) do
          # @return [Point]
          def point
            Point.new(rtt, bandwidth)
          end
        end

        # @return [Plan]
        attr_reader :plan
        # @return [Hash{Symbol=>Object}]
        attr_reader :environment
        # @return [Array<Sample>]
        attr_reader :samples
        # @return [Hash{String=>String}] of gems and servers
        attr_reader :versions
        # @return [Array<Floor::Sample>] what the proxy itself adds
        attr_accessor :floor

        # @param plan [Plan]
        # @param environment [Hash{Symbol=>Object}]
        def initialize(plan, environment)
          @plan = plan
          @environment = environment
          @samples = []
          @sizes = {}
          @reasons = {}
          @versions = {}
          @floor = []
        end

        # @param row [Row]
        # @param round [Integer]
        # @param event [Hash{String=>Object}] of a worker
        # @return [void]
        def add(row, round, event)
          case event["event"]
          when "ready" then @versions.merge!(event["versions"])
          when "size" then @sizes[[row.name, event["payload"]]] = event["bytes"]
          when "block"
            fields = %w[payload operation rtt bandwidth calls].to_h { |name| [name.to_sym, event[name]] }
            @samples << Sample.new(row: row.name, round: round, seconds: event["seconds"] / event["calls"], **fields)
            @index = nil
          end
        end

        # Forgets what was measured of a row: a wrong value voids all of it.
        # @param row [Row]
        # @param error [Unavailable, Invalid]
        # @return [void]
        def reject(row, error)
          @reasons[row.name] = error
          @samples.reject! { |sample| sample.row == row.name }
          @index = nil
        end

        # @param row [Row]
        # @return [Unavailable, Invalid, nil] why it was not measured
        def reason(row)
          @reasons[row.name]
        end

        # @param part [Symbol] :stores or :codecs
        # @return [Array<Row>] those that were measured
        def measured(part)
          plan.rows.select { |row| row.part == part && !reason(row) && samples.any? { |each| each.row == row.name } }
        end

        # @return [Array<Row>] those that were not
        def rejected
          plan.rows.select { |row| reason(row) }
        end

        # @return [Boolean] was something wrong, or nothing measured?
        def failed?
          samples.empty? || @reasons.values.any?(Invalid)
        end

        # @param row [Row]
        # @param payload [String]
        # @return [Integer, nil] bytes that cross the wire, without the protocol's own
        def bytes(row, payload)
          @sizes[[row.name, payload]]
        end

        # @param row [Row]
        # @param payload [String]
        # @param operation [String] "read" or "write"
        # @param point [Point]
        # @return [Array<Float>] seconds of one call, by round
        def seconds(row, payload, operation, point)
          index.fetch([row.name, payload, operation, point], [])
        end

        # @return [Statistics::Estimate, nil] seconds of one call: median and interval
        def estimate(row, payload, operation, point)
          found = seconds(row, payload, operation, point)
          Statistics.estimate(found) unless found.empty?
        end

        # @return [Float, nil] seconds of one call
        def median(row, payload, operation, point)
          found = seconds(row, payload, operation, point)
          Statistics.median(found) unless found.empty?
        end

        private

        def index
          @index ||= samples.sort_by(&:round)
                            .group_by { |each| [each.row, each.payload, each.operation, each.point] }
                            .transform_values { |found| found.map(&:seconds) }
        end
      end
    end
  end
end
