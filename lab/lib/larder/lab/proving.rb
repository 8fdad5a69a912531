# frozen_string_literal: true

require_relative "errors"

module Larder
  module Lab
    # Proves that a store keeps values before it is measured, and tells which versions it consists of. For processes
    # that measure a contender, which has to be open.
    module Proving
      # Distinct values that a store must return.
      PROOFS = 200

      private

      # Different values under different keys come back, and a deleted one does not. Warms the code up as well.
      def prove(contender, values = PROOFS)
        contender.clear
        values.times { |i| prove_key(contender, ["proof", i], "value #{i} é") }
        contender.clear
      end

      def prove_key(contender, key, value)
        store = contender.store
        first = store.fetch(key, expires_in: 5.minutes) { value }
        return demand(value, first, "fetch") unless contender.class.keeps_values?

        demand(value, first, "fetch with a block")
        demand(value, store.fetch(key) { "the block ran again" }, "fetch of a stored value")
        demand(value, store.read(key), "read")
        store.write(key, "other #{value}")
        demand("other #{value}", store.read(key), "read after write")
        store.delete(key)
        demand(nil, store.read(key), "read after delete")
      end

      def demand(expected, actual, call)
        return if expected == actual

        raise Invalid, "a wrong value: #{call} answered #{actual.inspect} instead of #{expected.inspect}"
      end

      def versions(contender)
        names = ["activesupport", *contender.class.gems.keys]
        found = names.to_h { |name| [name, Gem.loaded_specs[name]&.version&.to_s] }
        found["activesupport"] ||= ActiveSupport::VERSION::STRING # a path may have it without an activated gem
        found["sqlite"] = SQLite3::SQLITE_VERSION if defined?(SQLite3::SQLITE_VERSION)
        found["larder"] = ::Larder::VERSION if defined?(::Larder::VERSION)
        found.compact
      end
    end
  end
end
