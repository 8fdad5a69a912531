# frozen_string_literal: true

# Keeps what a trial measured: samples by contender, group, operation and round, and why some are missing.

module Larder
  module Lab
    module Trials
      # Raw figures of a run.
      class Results
        # seconds: of one call
        Sample = Struct.new(:name, :group, :round, :operation, :seconds, :calls, keyword_init: true)
        # keeps: whether the value itself comes back, not a likeness
        Size = Struct.new(:bytes, :raw, :keeps, keyword_init: true)

        # @return [Plan]
        attr_reader :plan
        # @return [Hash{Symbol => Object}]
        attr_reader :environment
        # @return [Array<Sample>]
        attr_reader :samples
        # @return [Hash{String => String}] of gems
        attr_reader :versions
        # @return [Float] seconds
        attr_accessor :elapsed

        def initialize(plan, environment)
          @plan = plan
          @environment = environment
          @samples = []
          @sizes = {}
          @servers = {}
          @facts = {}
          @reasons = {}
          @versions = {}
        end

        # @param event [Hash{String => Object}] of a worker
        # @return [void]
        def add(name, group, round, event)
          case event["event"]
          when "size"
            @sizes[[name, group]] = Size.new(bytes: event["bytes"], raw: event["raw"], keeps: event["keeps"])
          when "server" then @servers[[name, group]] = event.except("event")
          when "facts" then @facts[[name, group]] = event.except("event")
          when "cold"
            event.except("event").each { |what, seconds| sample(name, group, round, "cold #{what}", seconds, 1) }
          when "block"
            sample(name, group, round, event["operation"], event["seconds"] / event["calls"], event["calls"])
          end
        end

        # @return [void] forgets what was measured of it: a wrong value voids the row
        def reject(name, group, error)
          @reasons[[name, group]] = error
          @samples.reject! { |sample| sample.name == name && sample.group == group }
          @index = nil
        end

        # @return [Unavailable, Invalid, nil]
        def reason(name, group)
          @reasons[[name, group]]
        end

        # @return [Size, nil]
        def size(name, group)
          @sizes[[name, group]]
        end

        # @return [Hash{String => Numeric}, nil] what the server said of a value: memory, get_seconds
        def server(name, group)
          @servers[[name, group]]
        end

        # @return [Hash{String => Object}, nil] what else a worker found out
        def facts(name, group)
          @facts[[name, group]]
        end

        # @return [Array<Float>] seconds of one call, by round
        def seconds(name, group, operation)
          index.fetch([name, group, operation], []).map(&:seconds)
        end

        # @return [Array<String>] contenders that were measured on it, as the plan has them
        def measured(group)
          plan.names(group).select { |name| size(name, group) && !reason(name, group) }
        end

        # @return [Array<Array>] name, group and error of those that were not
        def rejected
          @reasons.map { |(name, group), error| [name, group, error] }
        end

        # @return [Boolean] did a wrong value come back anywhere?
        def invalid?
          @reasons.values.any?(Invalid)
        end

        private

        def sample(name, group, round, operation, seconds, calls)
          @samples << Sample.new(name: name, group: group, round: round, operation: operation, seconds: seconds,
                                 calls: calls)
          @index = nil
        end

        def index
          @index ||= @samples.sort_by(&:round).group_by { |sample| [sample.name, sample.group, sample.operation] }
        end
      end
    end
  end
end
