# frozen_string_literal: true

require_relative "../published"
require_relative "../units"
require_relative "policies"
require_relative "trace"

module Larder
  module Lab
    module Hitratio
      # The published misses of a trace. None was measured here.
      ARTICLE = Published.of("hitratio")
      # Sizes of the cache that were published, as they are typed.
      SIZES = ARTICLE.tables.first.columns.map(&:title).freeze

      # The size of a cache. text: as it was given; number: bytes, or percent; share: is it a share of all the bytes
      # that a trace asks for?; object_bytes: bytes of every object, whatever the trace says (nil: as the trace says).
      Size = Struct.new(:text, :number, :share, :object_bytes) do
        # Reads "5%", "512MiB", "1048576" or "200x100KB". Another text is a UsageError.
        def self.parse(text)
          count, bytes = text.match(/\A([1-9]\d*)x(.+)\z/)&.captures
          return new(text, Integer(count) * (each = Units.size(bytes, "--size")), false, each) if count

          share = text[/\A(\d+(?:\.\d+)?) ?%\z/, 1]
          size = new(text, share ? share.to_f : Units.size(text, "--size"), !share.nil?)
          size.bytes_of(1 << 40).positive? ? size : raise(UsageError, "--size #{text} must be more than 0")
        rescue UsageError => error
          raise UsageError, "#{error.message}; or a share of all bytes, as 5%; or objects of one size, as 200x100KB"
        end

        # The bytes of the cache, where `footprint` are those of all objects of a trace.
        def bytes_of(footprint) = share ? (footprint * number / 100).round : number

        def to_s = text
      end

      # One trace at one size. misses: by policies (nil: it cannot run in a cache so small); object_bytes: chosen by the
      # lab (nil: the trace says them); net_misses: of exact LRU in a cache of as many bytes as the engine's objects
      # have at the end (nil: one of the two did not run).
      Row = Struct.new(:trace, :size, :capacity, :object_bytes, :requests, :footprint, :misses, :net_misses,
                       keyword_init: true) do
        # @return [Float, nil] share of requests that missed; nil if it did not run
        def miss_ratio(policy) = misses[policy]&.fdiv(requests)

        # @return [Float, nil] excess over LRU's miss ratio
        def above_lru(policy)
          lru, ours = [miss_ratio("lru"), miss_ratio(policy)]
          ours - lru if lru && ours
        end

        # @return [Float, nil] its place between LRU (0) and Belady (1); nil where they do not differ or did not run
        def to_belady(policy)
          least = above_lru("belady")
          above_lru(policy)&.fdiv(least)&.+(0.0) if least&.negative? # no -0.0
        end

        # @return [Float, nil] excess of the engine over LRU with as many bytes of objects
        def above_net_lru = net_misses && (miss_ratio("larder") - net_misses.fdiv(requests))

        # @return [Integer, nil] the published misses of this trace, which is known by its requests, at this size
        def published(policy)
          at = SIZES.index(size) if requests == ARTICLE.trace["requests"] && !object_bytes
          at && ARTICLE.tables.first.rows.dig(policy, at + 1)
        end
      end

      # Replays traces at several sizes through several policies, and counts misses.
      class Replay
        # Bytes of an object where the trace does not say, at least; and of the smallest cache that the engine is then
        # measured in: in a smaller one its segments would be measured.
        OBJECT_BYTES = 4096
        LEAST_CAPACITY = 16 << 20
        # As a first guess of how long it takes.
        SECONDS_A_REQUEST = 4e-6
        private_constant :SECONDS_A_REQUEST

        # @param published [Boolean] is the trace with published results also replayed at the published sizes?
        def initialize(sizes:, policies:, progress:, published: false)
          @sizes = sizes
          @published = published
          @policies = policies
          @progress = progress
          @nets = (%w[larder lru] - policies).empty?
        end

        def run(traces)
          tasks = traces.flat_map { |trace| sizes(trace).map { |size| [trace, size] } }
          each = @policies.size + (@nets ? 1 : 0)
          @progress.start("replaying", tasks.size * each, "replay",
                          tasks.sum { |trace, _| trace.requests.size } * each * SECONDS_A_REQUEST)
          tasks.map { |trace, size| row(trace, size) }
        end

        private

        def sizes(trace)
          known = @published && trace.sizes && trace.requests.size == ARTICLE.trace["requests"]
          known ? @sizes + SIZES.map { |text| Size.parse(text) } : @sizes
        end

        def row(trace, size)
          object_bytes = size.object_bytes || (object_bytes(trace, size) unless trace.sizes)
          trace = trace.with_size(object_bytes) if object_bytes
          capacity = size.bytes_of(trace.footprint)
          found = @policies.to_h { |policy| [policy, replay(policy, capacity, trace, size)] }
          net = found["larder"]&.last if @nets
          Row.new(trace: trace.name, size: size.to_s, capacity: capacity, object_bytes: object_bytes,
                  requests: trace.requests.size, footprint: trace.footprint, misses: found.transform_values(&:first),
                  net_misses: (replay("lru", net, trace, size).first if net))
        end

        # Where the cache is a share of them, as small as leaves it at LEAST_CAPACITY or more.
        def object_bytes(trace, size)
          share = size.share ? size.bytes_of(trace.objects * OBJECT_BYTES) : LEAST_CAPACITY
          share >= LEAST_CAPACITY ? OBJECT_BYTES : (OBJECT_BYTES * LEAST_CAPACITY.fdiv(share) / 512).ceil * 512
        end

        # Answers misses, and the bytes of the objects that are there at the end; nothing if the cache is too small for
        # the policy.
        def replay(name, capacity, trace, size)
          @progress.step("#{trace.name} #{size} #{name}")
          return [] if capacity < Policies.fetch(name).least

          policy = Policies.fetch(name).new(capacity, trace)
          requests, sizes, following = trace.requests, trace.sizes, trace.following
          hits = requests.each_index.count { |at| policy.request(requests[at], sizes[at], following[at]) }
          [requests.size - hits, policy.net_bytes]
        ensure
          policy&.close
        end
      end
    end
  end
end
