# frozen_string_literal: true

# Lists what advice knows of a store without measuring it: who shares it, what it survives, how a full one behaves.
# The command `features` tests most of this.

require "set"

module Larder
  module Lab
    module Advice
      # key: of the {Contender}; title: in sentences; shared_by: as {Fields::WHO}; in_memory: is all that it holds in
      # memory? crash: what a crash of its machine leaves (:kept, :if_configured, :lost); evicts: does a full one make
      # room? redis: does it speak Redis's protocol?
      Profile = Struct.new(:key, :title, :shared_by, :in_memory, :crash, :evicts, :redis, keyword_init: true) do
        # @return [Boolean] is it asked over a network?
        def remote?
          shared_by == "hosts"
        end
      end

      # Of the stores that advice chooses from.
      module Profiles
        # @return [Hash{String=>Profile}]
        ALL = [
          Profile.new(key: "larder", title: "Larder", shared_by: "processes", in_memory: false, crash: :lost,
                      evicts: true),
          Profile.new(key: "memory", title: "the memory store", shared_by: "nobody", in_memory: true, crash: :lost,
                      evicts: true),
          Profile.new(key: "file", title: "the file store", shared_by: "processes", in_memory: false, crash: :kept,
                      evicts: false),
          Profile.new(key: "solid_cache", title: "Solid Cache on SQLite", shared_by: "processes", in_memory: false,
                      crash: :kept, evicts: true),
          Profile.new(key: "redis", title: "Redis", shared_by: "hosts", in_memory: true, crash: :if_configured,
                      evicts: true, redis: true),
          Profile.new(key: "valkey", title: "Valkey", shared_by: "hosts", in_memory: true, crash: :if_configured,
                      evicts: true, redis: true),
          Profile.new(key: "memcached", title: "memcached", shared_by: "hosts", in_memory: true, crash: :lost,
                      evicts: true),
          Profile.new(key: "solid_cache-postgresql", title: "Solid Cache on PostgreSQL", shared_by: "hosts",
                      in_memory: false, crash: :kept, evicts: true)
        ].to_h { |profile| [profile.key, profile] }.freeze

        # What starts slowly, and is worth that only where what is cached must survive its machine.
        DATABASES = %w[solid_cache-postgresql].freeze

        module_function

        # @param key [String]
        # @return [Profile]
        def fetch(key)
          ALL.fetch(key)
        end

        # @return [Array<String>]
        def names
          ALL.keys
        end
      end
    end
  end
end
