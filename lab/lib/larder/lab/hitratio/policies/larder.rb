# frozen_string_literal: true

require_relative "../../scratch"

module Larder
  module Lab
    module Hitratio
      module Policies
        # The engine itself, in a file of exactly the size under test: what it needs for its index, headers and free
        # segments is taken from that.
        class Engine < Policy
          Policies.register("larder", self)

          # (see Policy#initialize)
          def initialize(capacity, trace)
            super
            require "larder" # here, for the list of policies is also shown where nothing is compiled
            @scratch = Scratch.new(nil)
            @cache = Larder::Cache.open(File.join(@scratch.path, "cache.larder"), size: capacity)
            @bytes = "v".b * 65_536
            @expected = @cache.max_value
            @promotions = @most_copied = 0
            @sizes = {}
          end

          # See {Policy#request}; what follows is not looked at.
          # @return [Boolean] was it a hit?
          def request(object, size, _following)
            key = "object/#{object}"
            return true if @cache.get(key)

            store(key, size) if size <= @expected
            false
          end

          # @return [Hash{Symbol => Integer}] statistics of the engine; how many objects one set has copied to make
          #   room, at most; bytes of the objects that are there, all parts of them
          def stats
            present = @sizes.filter_map { |key, size| size if @cache.exist?(key) }
            @cache.stats.merge(most_copied: @most_copied, net_bytes: present.sum)
          end

          # (see Policy#close)
          def close
            @cache.close
            @scratch.remove
          end

          private

          def store(key, size)
            @sizes[key] = size
            @cache.set(key, value(size))
            promotions = @cache.stats[:promotions]
            @most_copied = [@most_copied, promotions - @promotions].max
            @promotions = promotions
          end

          def value(size)
            @bytes *= 2 while @bytes.bytesize < size
            @bytes.byteslice(0, size)
          end
        end
      end
    end
  end
end
