# frozen_string_literal: true

# Notes of a store with `remote:` in the file, for itself.

require "active_support/digest"

module Larder
  module Store
    class TwoLevels
      # Notes about keys, for all processes of the machine. They are not entries: their keys begin with {PREFIX}, which
      # tells {Maintenance#keys} to leave them out. The file may lose them at any time.
      # @api private
      class Notes
        PREFIX = "larder/note/"

        # @param cache [Larder::Cache]
        # @param records [Records] of the cache
        def initialize(cache, records)
          @cache = cache
          @records = records
        end

        # Does not count as reads.
        #
        # @param kind [String] of the notes
        # @param keys [Array<String>]
        # @return [Hash{String=>String}] bytes by key
        # @raise [Larder::Error]
        def read(kind, keys)
          names = keys.to_h { |key| [key, name_of(kind, key)] }
          found = @cache.get_multi(names.values, now: Clock.now)
          names.each_value do |name|
            @records.recount(name, found.key?(name) ? Records::HIT : Records::MISS, Records::UNCOUNTED)
          end
          names.transform_values { |name| found[name] }.compact
        end

        # @param kind [String]
        # @param notes [Hash{String=>String}] bytes by key
        # @param seconds [Numeric] how long they are kept
        # @return [void]
        # @raise [Larder::Error]
        def write(kind, notes, seconds)
          @cache.set_multi(notes.transform_keys { |key| name_of(kind, key) }, ttl: seconds, now: Clock.now)
        end

        private

        # The limit of the file, as that of the store may leave nothing of the prefix.
        def name_of(kind, key)
          name = "#{PREFIX}#{kind}/#{key}"
          return name if name.bytesize <= Larder::Cache::MAX_KEY

          "#{PREFIX}#{kind}/:hash:#{ActiveSupport::Digest.hexdigest(key)}"
        end
      end
    end
  end
end
