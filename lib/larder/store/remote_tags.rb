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
    module RemoteTags
      # What the keys of versions begin with.
      KEY = "larder/tag/"
      # The first of three in the Array that is the value of an entry with tags: then the versions, then the value.
      MARK = "larder/tagged/1"
      # Seconds after which the remote store forgets a version, and entries that have it are misses: nothing stays for
      # ever of tags that are no longer used.
      LIFE = 28 * 86_400
      # In reports of values that cannot be read.
      WHO = "remote:"
      private_constant :KEY, :MARK, :LIFE, :WHO

      # A stamp, and the versions of that moment.
      class Stamp < String
        # @return [Hash{String=>String}, nil] nil: the remote store could not tell
        attr_reader :versions

        # @api private
        def initialize(stamp, versions)
          super(stamp)
          @versions = versions
        end
      end

      private

      # Tags'.
      def stamp(options = nil)
        return super unless @remote && options && options[:tags]

        tags = tags_of(texts_of(options))
        Stamp.new(super, failsafe(:read_multi_entries) { tag_versions(tags) if @remote.ready? })
      end

      # Tags'. First in the remote store: what is read there from now on is no longer found.
      def drop_tagged(texts)
        return super unless @remote

        keys = texts.map { |text| tag_key(text) }
        failsafe(:delete_tagged) do
          @remote.change(:delete, keys) { @remote.write_multi(keys.to_h { |key| [key, new_version] }, LIFE) }
        end
      ensure
        if @remote
          super
          tell(:tags, texts.map { |text| Tags.own(text) })
        end
      end

      def tags_of(texts)
        texts.filter_map { |text| text.byteslice(1..).force_encoding(Encoding::UTF_8) if text.start_with?("\0") }
      end

      def tag_key(text)
        @remote.own_key(KEY.b << text.b)
      end

      def new_version
        ActiveSupport::Cache::Entry.new(SecureRandom.hex(8))
      end

      # @return [Hash{String=>String}] versions by tag; those that are missing are made
      def tag_versions(tags)
        keys = tags.to_h { |text| [text, tag_key(text)] }
        found = @remote.entries_of(@remote.read_multi(keys.values))
        missing = keys.values - found.keys
        missing.each { |key| @remote.write(key, new_version, LIFE, unless_exist: true) }
        found.update(@remote.entries_of(@remote.read_multi(missing))) if missing.any?
        keys.transform_values { |key| found[key]&.value }
      end

      # What the remote store gets for an entry that is written with these options and began at the stamp.
      def with_versions(entry, options, stamp)
        tags = options[:tags] ? tags_of(texts_of(options)) : []
        return entry if tags.empty? && !marked?(entry.value)

        versions = (stamp.versions if stamp.is_a?(Stamp)) || {}
        tags.each { |text| versions[text] ||= "" } # unknown: such an entry is never found
        ActiveSupport::Cache::Entry.new([MARK, versions, entry.value], expires_at: entry.expires_at,
                                                                       version: entry.version)
      end

      def marked?(value)
        value.is_a?(Array) && value.size == 3 && value.first == MARK && value[1].is_a?(Hash)
      end

      # Makes the entries what they were when they were written. Removes those that a tag has deleted, and those whose
      # value cannot be read.
      #
      # @param entries [Hash{String=>ActiveSupport::Cache::Entry}] as the remote store has them
      # @return [Hash{String=>Array<String>}] tags of those that have any
      def open_entries(entries)
        versions = versions_of(entries)
        return versions if versions.empty?

        tags = versions.values.flat_map(&:keys).uniq
        current = tags.empty? ? {} : tag_versions(tags)
        versions.each do |key, by_tag|
          entry = entries.delete(key)
          next unless by_tag.all? { |text, version| current[text] == version }

          entries[key] = ActiveSupport::Cache::Entry.new(entry.value[2], expires_at: entry.expires_at,
                                                                         version: entry.version)
        end
        versions.slice(*entries.keys).transform_values(&:keys)
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
