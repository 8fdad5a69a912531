# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # The least that a cache in Ruby can do for a call, with a Hash in the process. A store's own time is its
      # difference from this row.
      class FloorStore < Contender
        named "floor", "a Hash lookup and a copy: the least a cache in Ruby does", shared: false, on_request: true

        # Does this, and nothing else: it joins the parts of a key and asks records for their `cache_key_with_version`;
        # copies a String when it is written and when it is read, and other objects by Marshal; and sends the events of
        # Rails if they have subscribers. It has no expiry, eviction, size, versions, namespaces, locks or errors, and
        # ignores the options for them. Its methods are those of ActiveSupport::Cache::Store.
        # @api private
        class Store
          PLAIN = [Integer, Float, Symbol, NilClass, TrueClass, FalseClass].freeze
          Dumped = Struct.new(:bytes)

          def initialize
            @entries = {}
          end

          def read(name, _options = nil)
            key = key_of(name)
            return load(@entries[key]) unless heard?("cache_read.active_support")

            event("cache_read.active_support", key: key) do |payload|
              load(@entries[key]).tap { |value| payload[:hit] = !value.nil? }
            end
          end

          def write(name, value, _options = nil)
            key = key_of(name)
            return @entries[key] = copy(value) unless heard?("cache_write.active_support")

            event("cache_write.active_support", key: key) { @entries[key] = copy(value) }
          end

          def fetch(name, _options = nil)
            key = key_of(name)
            return fetch_and_tell(name, key) { yield name } if heard?("cache_read.active_support")

            found = @entries[key]
            return load(found) unless found.nil?

            yield(name).tap { |value| @entries[key] = copy(value) }
          end

          def read_multi(*names)
            names.each_with_object({}) do |name, all|
              found = @entries[key_of(name)]
              all[name] = load(found) unless found.nil?
            end
          end

          def write_multi(values, _options = nil) = values.each { |name, value| @entries[key_of(name)] = copy(value) }

          def exist?(name, _options = nil) = @entries.key?(key_of(name))

          def delete(name, _options = nil) = @entries.delete(key_of(name)) ? true : false

          def delete_multi(names, _options = nil) = names.count { |name| delete(name) }

          def increment(name, amount = 1, _options = nil)
            key = key_of(name)
            @entries[key] = @entries.fetch(key, 0) + amount
          end

          def clear(_options = nil) = @entries.clear

          private

          def key_of(name)
            case name
            when String then name
            when Array then name.map { |part| key_of(part) }.join("/")
            else name.respond_to?(:cache_key_with_version) ? name.cache_key_with_version : name.to_s
            end
          end

          # A String of its own: `dup` would share the bytes of a long one.
          def copy(value)
            case value
            when String then String.new(capacity: value.bytesize, encoding: value.encoding) << value
            when *PLAIN then value
            else Dumped.new(Marshal.dump(value))
            end
          end

          def load(found) = found.is_a?(Dumped) ? Marshal.load(found.bytes) : copy(found)

          def heard?(event) = ActiveSupport::Notifications.notifier.listening?(event)

          def event(name, payload, &block)
            ActiveSupport::Notifications.instrument(name, { store: "floor", **payload }, &block)
          end

          def fetch_and_tell(name, key)
            found = event("cache_read.active_support", key: key, super_operation: :fetch) do |payload|
              load(@entries[key]).tap { |value| payload[:hit] = !value.nil? }
            end
            return event("cache_fetch_hit.active_support", key: key) { found } unless found.nil?

            event("cache_generate.active_support", key: key) { yield(name) }.tap { |value| write(key, value) }
          end
        end

        private

        def open_store
          @recorded = { store: "a Hash", arguments: [] }
          Store.new
        end
      end
    end
  end
end
