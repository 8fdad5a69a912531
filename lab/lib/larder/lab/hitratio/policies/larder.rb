# frozen_string_literal: true

require_relative "../../scratch"

module Larder
  module Lab
    module Hitratio
      module Policies
        # The engine itself, in a file of exactly the size under test, index, headers and free segments included.
        class Engine < Policy
          Policies.register("larder", self)

          # (see Policy.least)
          def self.least
            require "larder" # here: the list of policies is also shown where nothing is compiled
            Larder::Cache::MIN_SIZE
          end

          # (see Policy#net_bytes)
          def net_bytes = @sizes.sum { |key, size| @cache.exist?(key) ? size : 0 }

          # (see Policy#close)
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
