# frozen_string_literal: true

# The plan of a run of `larder-lab network`: which rows are measured, and at which points each.

require_relative "../contenders"
require_relative "../gemfiles"

module Larder
  module Lab
    # What a network does to stores and codecs.
    module Network
      # A network. rtt: seconds there and back; bandwidth: bits a second each way, nil: no limit. Both are nil where a
      # store needs no network.
      Point = Struct.new(:rtt, :bandwidth) do
        # @return [Boolean] is there a network at all?
        def network?
          !rtt.nil?
        end

        # @return [String] for keys of measures
        def key
          return "local" unless network?

          "#{(rtt * 1e6).round}us/#{bandwidth ? "#{bandwidth.round}bit" : "unlimited"}"
        end
      end

      # A store without a network.
      LOCAL = Point.new(nil, nil).freeze

      # What is measured in one process. part: :stores or :codecs; codec: "marshal+none", nil: values go as they are;
      # server: in {Servers}, nil without a network; points: an Array of {Point}; payloads: names.
      Row = Struct.new(:name, :part, :contender, :codec, :server, :points, :payloads, keyword_init: true) do
        # @return [String, nil] the Gemfile of its process, in lab/gemfiles
        def bundle
          codec ? Gemfiles::CODECS : Contenders.fetch(contender).bundle
        end

        # An application of Rails is booted once a process, so its stores get one for each point.
        # @return [Array<Array<Point>>] points by process
        def processes
          Contenders.fetch(contender).gems.key?("railties") ? points.map { |point| [point] } : [points]
        end
      end

      # rtts: seconds, ascending; bandwidths: bits a second, descending, nil first; contenders, codecs: names; payloads:
      # names, for stores; codec_payload: a name; source: of a payload that was given; rounds; seconds: of a block, at
      # least; calls: of a block, at least; seed: of the order; urls: servers of the user's, by names in {Servers};
      # requires: files to load; directory: for files of stores.
      Plan = Struct.new(:rtts, :bandwidths, :contenders, :codecs, :payloads, :codec_payload, :source, :rounds, :seconds,
                        :calls, :seed, :urls, :requires, :directory, keyword_init: true) do
        # @return [Array<Row>]
        def rows
          @rows ||= [*contenders.map { |name| store_row(name) }, *codecs.map { |name| codec_row(name) }]
        end

        # The round trip at which bandwidths are varied.
        # @return [Float] seconds
        def middle_rtt
          rtts[rtts.size / 2]
        end

        # @return [Array<Point>] every round trip without a limit, every limit at the middle round trip
        def network_points
          rtts.map { |rtt| Point.new(rtt, nil) } + bandwidths.compact.map { |limit| Point.new(middle_rtt, limit) }
        end

        # @return [Array<Point>] every limit without a round trip, so that what differs are the codecs
        def codec_points
          bandwidths.map { |limit| Point.new(0.0, limit) }
        end

        # @return [Array<Point>] of all networks between a client and a server
        def wires
          (network_points + codec_points).uniq
        end

        private

        def store_row(name)
          server = Contenders.fetch(name).server
          Row.new(name: name, part: :stores, contender: name, server: server, payloads: payloads,
                  points: server ? network_points : [LOCAL])
        end

        def codec_row(name)
          Row.new(name: name, part: :codecs, contender: CODEC_STORE, codec: name, payloads: [codec_payload],
                  server: Contenders.fetch(CODEC_STORE).server, points: codec_points)
        end
      end

      # The store in which codecs are measured.
      CODEC_STORE = "redis"
    end
  end
end
