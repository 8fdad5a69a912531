# frozen_string_literal: true

require "larder/cli/registry"
require_relative "../scratch"

module Larder
  module Lab
    # Replays traces of requests and counts misses: in the engine, and in simulations of published policies.
    # @api private
    module Hitratio
      # A queue of objects with their bytes, from which any object is removed in constant time: a Hash keeps the order
      # in which keys were added.
      class Chain
        # The bytes of all objects in it.
        attr_reader :bytes

        def initialize
          @sizes = {}
          @bytes = 0
        end

        def empty? = @sizes.empty?

        def include?(object) = @sizes.key?(object)

        # Adds an object that is not in it. `size` is in bytes.
        def push(object, size)
          @bytes += size
          @sizes[object] = size
        end

        # Removes an object, and answers its bytes; nil if it is not in it.
        def delete(object) = @sizes.delete(object)&.tap { |size| @bytes -= size }

        # Makes an object that is in it the newest.
        def renew(object) = @sizes[object] = @sizes.delete(object)

        # Removes its oldest object, and answers that and its bytes.
        def shift = @sizes.shift.tap { |_, size| @bytes -= size }

        # nil if it is empty
        def oldest = @sizes.first&.first
      end

      # A cache of a given size. A simulated one counts bytes of objects alone: it has no overhead. A subclass has
      # `prepare`, `hit?(object)` and `store(object, size)`, which is called after a miss of an object that fits.
      class Policy
        # Bytes of the smallest cache that it can have.
        def self.least = 1

        def initialize(capacity, trace)
          @capacity = capacity
          @trace = trace
          prepare
        end

        # Answers whether a request was a hit; an absent object of `size` bytes is stored afterwards. `_following` is
        # the number of the next request for it, for a policy that knows the future.
        def request(object, size, _following)
          return true if hit?(object)

          store(object, size) if size <= @capacity
          false
        end

        # Bytes of the objects that are there; nil where the cache takes nothing else.
        def net_bytes; end

        # Releases everything outside of Ruby.
        def close; end

        private

        def chains(count) = Array.new(count) { Chain.new }
      end

      # Eviction policies, by the names users type. A new one is a class in simulated.rb, and its name there.
      module Policies
        extend CLI::Registry
        holds "policy"

        # The engine itself, in a file of exactly the size under test, index, headers and free segments included.
        class Engine < Policy
          Policies.register("larder", self)

          def self.least
            require "larder" # here: the list of policies is also shown where nothing is compiled
            Larder::Cache::MIN_SIZE
          end

          def net_bytes = @sizes.sum { |key, size| @cache.exist?(key) ? size : 0 }

          def close
            @cache.close
            @scratch.remove
          end

          private

          def prepare
            require "larder"
            @scratch = Scratch.new(nil)
            @cache = Larder::Cache.open(File.join(@scratch.path, "cache.larder"), size: @capacity)
            @capacity = @cache.max_value
            @bytes = "v".b * 65_536
            @sizes = {}
          end

          def hit?(object) = !@cache.get("object/#{object}").nil?

          def store(object, size)
            @bytes *= 2 while @bytes.bytesize < size
            key = "object/#{object}"
            @sizes[key] = size
            @cache.set(key, @bytes.byteslice(0, size))
          end
        end
      end
    end
  end
end

require_relative "simulated"
