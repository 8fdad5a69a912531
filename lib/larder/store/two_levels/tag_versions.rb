# frozen_string_literal: true

# Tags of entries in the remote store.

require "concurrent/map"
require "securerandom"
require "larder/store/two_levels/seen_tags"

module Larder
  module Store
    class TwoLevels
      # The remote store has a version of each tag, a random text. An entry with tags has the versions that were
      # current before its value was computed, and is a miss if one has changed since. `delete_tagged` changes it. A
      # version that the remote store has lost is another one when it is made again. So nothing is ever found that was
      # deleted.
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
        # Tags whose last versions a process remembers.
        MOST_KNOWN = 1000
        # A key of a version, after a namespace.
        NAME = %r{(?:\A|:)#{KEY}(.*)\z}mn
        private_constant :Entry, :KEY, :MARK, :LIFE, :WHO, :MOST_KNOWN, :NAME

        # @param key [String]
        # @return [String, nil] the tag whose version has the key
        def self.name_of(key)
          key.b[NAME, 1]
        end

        # A stamp of the file, and the versions of that moment.
        class Stamp < String
          # @return [Hash{String=>String}] by tag, as far as they were read
          attr_reader :versions
          # @return [Integer] as of SeenTags
          attr_reader :moment

          # @api private
          def initialize(stamp, versions, moment)
            super(stamp)
            @versions = versions
            @moment = moment
          end
        end

        # @param remote [Remote::Client]
        # @param seen [SeenTags]
        def initialize(remote, seen)
          @remote = remote
          @seen = seen
          @known = Concurrent::Map.new
        end

        # @param names [Array<String>]
        # @return [Hash{String=>String}] versions by name; those that are missing are made
        # @raise [RemoteError]
        def current(names)
          keys = names.to_h { |name| [name, key_of(name)] }
          found = read(keys.values)
          missing = keys.values - found.keys
          found.update(make(missing)) if missing.any?
          versions = keys.transform_values { |key| found[key]&.value }
          @seen.note(versions.transform_keys(keys))
          versions.each { |name, version| know(name, version) }
        end

        # Writes entries whose values begin to be computed with this call. It writes those versions of their tags that
        # this process has seen last, and reads those of now by the same call. If they differ, the entries are misses,
        # and are written a second time.
        #
        # @param entries [Hash{String=>ActiveSupport::Cache::Entry}] by key
        # @param call [Call] with tags
        # @param kept_in [Float, nil] seconds
        # @return [Boolean] were they stored?
        # @raise [RemoteError]
        def write(entries, call, kept_in)
          names = call.texts.names
          known = names.to_h { |name| [name, @known[name]] }
          return true if known.none? { |_, version| version.nil? } && write_known(entries, kept_in, known)

          @remote.write_multi(marked_all(entries, current(names)), kept_in)
        end

        # Gives each tag another version: entries that have it are misses from now on.
        #
        # @param names [Array<String>]
        # @return [void]
        # @raise [RemoteError]
        def change(names)
          versions = names.to_h { |name| [key_of(name), new_version] }
          @remote.outbox.change(:delete, versions.keys, versions.values) { @remote.write_multi(versions, LIFE) }
        end

        # @param entry [ActiveSupport::Cache::Entry]
        # @param call [Call]
        # @param stamp [String, nil] of the moment in which the value began to be computed
        # @return [ActiveSupport::Cache::Entry] for the remote store
        def marked(entry, call, stamp)
          names = call.options[:tags] ? call.texts.names : []
          return entry if names.empty? && !marked?(entry.value)

          versions = stamp.is_a?(Stamp) ? stamp.versions.dup : {}
          unknown = names - versions.keys
          versions.update(unchanged(unknown, stamp.moment)) if unknown.any? && stamp.is_a?(Stamp)
          names.each { |name| versions[name] ||= "" } # unknown: such an entry is never found
          marked_by(entry, versions)
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
            # A version that could not be read is none.
            live = by_name.all? { |name, version| version && now[name] == version }
            entries[key] = with_value(entry, entry.value[2]) if live
          end
          versions.slice(*entries.keys).transform_values(&:keys)
        end

        # @param stored [Object] a value of the remote store
        # @param value [Object] that replaces it
        # @return [Object] the new value with the tags of the old one
        def again(stored, value)
          return [*stored.first(2), value] if marked?(stored)

          marked?(value) ? [MARK, {}, value] : value
        end

        # @param entry [ActiveSupport::Cache::Entry]
        # @return [ActiveSupport::Cache::Entry] the same with another value
        def with_value(entry, value)
          Entry.new(value, expires_at: entry.expires_at, version: entry.version)
        end

        private

        # @param known [Hash{String=>String}] versions by name
        # @return [Boolean] false: they are not those of now, or the store needs two calls
        def write_known(entries, kept_in, known)
          keys = known.keys.to_h { |name| [name, key_of(name)] }
          found = @remote.write_and_find(marked_all(entries, known), kept_in, keys.values)
          found ? keys.all? { |name, key| found[key]&.value == known[name] } : false
        rescue Remote::Waiting
          false # a deletion of one of the tags is listed, and nothing was written
        end

        def marked_all(entries, versions)
          entries.transform_values { |entry| marked_by(entry, versions) }
        end

        def marked_by(entry, versions)
          with_value(entry, [MARK, versions, entry.value])
        end

        def know(name, version)
          @known.delete(@known.keys.first) if @known.size >= MOST_KNOWN && !@known.key?(name)
          @known[name] = version if version
        end

        # Versions that another caller makes at the same time stay. Where a store replaces them, entries with the first
        # ones are misses.
        def make(keys)
          @remote.write_multi(keys.to_h { |key| [key, new_version] }, LIFE, { unless_exist: true })
          read(keys)
        end

        # The versions of tags that a block has set. If the remote store does not answer, the write reports it.
        #
        # @param moment [Integer] of before the block
        # @return [Hash{String=>String}] of those that have not changed since
        def unchanged(names, moment)
          return {} unless @remote.outbox.ready?

          versions = current(names).transform_keys { |name| key_of(name) }
          earlier = @seen.before(versions, moment)
          names.select { |name| earlier.include?(key_of(name)) }.to_h { |name| [name, versions[key_of(name)]] }
        rescue RemoteError
          {}
        end

        def read(keys)
          @remote.entries_of(@remote.read_multi(keys))
        end

        def key_of(name)
          @remote.lasting_key(KEY.b << name.b)
        end

        def new_version
          Entry.new(SecureRandom.hex(8))
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
end
