# frozen_string_literal: true

# Tags of entries in the remote store.

require "securerandom"

module Larder
  module Store
    # The remote store has a version of each tag, a random text. An entry with tags has the versions that were current
    # before its value was computed, and is a miss if one has changed since. `delete_tagged` changes it. A version that
    # the remote store has lost is another one when it is made again. So nothing is ever found that was deleted.
    #
    # In the file, copies have their tags as entries have without a remote store.
    # @api private
    class TagVersions
      Entry = ActiveSupport::Cache::Entry
      # With this the keys of versions begin.
      KEY = "larder/tag/"
      # The first of three in the Array that is the value of an entry with tags: then the versions, then the value.
      MARK = "larder/tagged/1"
      # Seconds after which the remote store forgets a version, and entries that have it are misses: nothing stays for
      # ever of tags that are no longer used.
      LIFE = 28 * 86_400
      # In reports of values that cannot be read.
      WHO = "remote:"
      private_constant :Entry, :KEY, :MARK, :LIFE, :WHO

      # A stamp of the file, and the versions of that moment.
      class Stamp < String
        # @return [Hash{String=>String}, nil] by tag; nil: the remote store could not answer
        attr_reader :versions

        # @api private
        def initialize(stamp, versions)
          super(stamp)
          @versions = versions
        end
      end

      # @param remote [Remote::Client]
      def initialize(remote)
        @remote = remote
      end

      # @param names [Array<String>]
      # @return [Hash{String=>String}] versions by name; those that are missing are made
      # @raise [RemoteError]
      def current(names)
        keys = names.to_h { |name| [name, key_of(name)] }
        found = read(keys.values)
        missing = keys.values - found.keys
        found.update(make(missing)) if missing.any?
        keys.transform_values { |key| found[key]&.value }
      end

      # Gives each tag another version: entries that have it are misses from now on.
      #
      # @param names [Array<String>]
      # @return [void]
      # @raise [RemoteError]
      def change(names)
        keys = names.map { |name| key_of(name) }
        @remote.outbox.change(:delete, keys) { @remote.write_multi(keys.to_h { |key| [key, new_version] }, LIFE) }
      end

      # @param entry [ActiveSupport::Cache::Entry]
      # @param call [Call]
      # @param stamp [String, nil] of the moment in which the value began to be computed
      # @return [ActiveSupport::Cache::Entry] for the remote store
      def marked(entry, call, stamp)
        names = call[:tags] ? call.texts.names : []
        return entry if names.empty? && !marked?(entry.value)

        versions = (stamp.versions if stamp.is_a?(Stamp)) || {}
        names.each { |name| versions[name] ||= "" } # unknown: such an entry is never found
        with_value(entry, [MARK, versions, entry.value])
      end

      # Makes the entries what they were when they were written. Removes those that a tag has deleted, and those whose
      # value cannot be read.
      #
      # @param entries [Hash{String=>ActiveSupport::Cache::Entry}] as the remote store has them, by key
      # @return [Hash{String=>Array<String>}] tags of those that have any
      # @raise [RemoteError]
      def open(entries)
        versions = versions_of(entries)
        return versions if versions.empty?

        names = versions.values.flat_map(&:keys).uniq
        now = names.empty? ? {} : current(names)
        versions.each do |key, by_name|
          entry = entries.delete(key)
          entries[key] = with_value(entry, entry.value[2]) if by_name.all? { |name, version| now[name] == version }
        end
        versions.slice(*entries.keys).transform_values(&:keys)
      end

      # @param stored [Object] a value of the remote store
      # @param value [Object] that replaces it
      # @return [Object] the new value with the tags of the old one
      def again(stored, value)
        marked?(stored) ? [*stored.first(2), value] : value
      end

      private

      # Versions that another caller makes at the same time stay. Where a store replaces them, entries that have them are
      # misses.
      def make(keys)
        @remote.write_multi(keys.to_h { |key| [key, new_version] }, LIFE, { unless_exist: true })
        read(keys)
      end

      def read(keys)
        @remote.entries_of(@remote.read_multi(keys))
      end

      def key_of(name)
        @remote.own_key(KEY.b << name.b)
      end

      def new_version
        Entry.new(SecureRandom.hex(8))
      end

      def with_value(entry, value)
        Entry.new(value, expires_at: entry.expires_at, version: entry.version)
      end

      def marked?(value)
        value.is_a?(Array) && value.size == 3 && value.first == MARK && value[1].is_a?(Hash)
      end

      # @return [Hash{String=>Hash{String=>String}}] by key, of the entries that have tags
      def versions_of(entries)
        versions = {}
        entries.delete_if do |key, entry|
          value = Codecs::Reading.guard(WHO, 0) { entry.value } # damaged bytes fail when they are asked for
          versions[key] = value[1] if marked?(value)
          false
        rescue ActiveSupport::Cache::DeserializationError
          true
        end
        versions
      end
    end
  end
end
