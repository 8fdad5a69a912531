# frozen_string_literal: true

# Takes, checks and ends leases in a Redis or Valkey by scripts, those of many keys by one.

require "digest/sha1"
require "larder/remote/redis_script"
require "larder/codecs/reports"

module Larder
  module Remote
    module Adapters
      # A script reads and writes a lease and its entry at the same moment. Their keys are of other slots, so that a
      # cluster cannot run it, nor can several servers.
      #
      # Leases are entries of the store, and are compared as bytes: machines whose server runs no scripts have the
      # same ones.
      class RedisLeases
        # Takes leases that no caller has, or that are those of dead owners. The answer has the leases that are there
        # now, and the entries. A client may repeat it, so an own lease counts as taken.
        TAKE = RedisScript.new(<<~LUA)
          local answers = {}
          for i = 1, #KEYS, 2 do
            local own, ms, dead = unpack(ARGV, i * 3 / 2 - 0.5, i * 3 / 2 + 1.5)
            local held = redis.call("GET", KEYS[i])
            if not held or held == dead then
              redis.call("SET", KEYS[i], own, "PX", ms)
              held = own
            end
            answers[i] = held
            answers[i + 1] = redis.call("GET", KEYS[i + 1])
          end
          return answers
        LUA
        # Ends leases and stores entries, where the lease is the own one, and the entry is what it was then.
        WRITE = RedisScript.new(<<~LUA)
          local answers = {}
          for i = 1, #KEYS, 2 do
            local own, bytes, ms, digest = unpack(ARGV, i * 2 - 1, i * 2 + 2)
            local stored = 0
            if redis.call("GET", KEYS[i]) == own then
              redis.call("DEL", KEYS[i])
              local old = redis.call("GET", KEYS[i + 1])
              if (old and redis.sha1hex(old) or "") == digest then
                if ms == "" then
                  redis.call("SET", KEYS[i + 1], bytes)
                else
                  redis.call("SET", KEYS[i + 1], bytes, "PX", ms)
                end
                stored = 1
              end
            end
            answers[#answers + 1] = stored
          end
          return answers
        LUA
        # Ends leases that are the own ones.
        END_ALL = RedisScript.new(<<~LUA)
          for i = 1, #KEYS do
            if redis.call("GET", KEYS[i]) == ARGV[i] then
              redis.call("DEL", KEYS[i])
            end
          end
          return 1
        LUA
        # Answers of servers that run no scripts for this client, or none with keys of several slots.
        REFUSALS = /\A(NOPERM|CROSSSLOT|ERR unknown command|ERR This instance has|ERR Lua scripts)/
        REPORT = "the Redis of remote: runs no scripts for LarderStore, which takes and checks its leases with " \
                 "more calls; allow EVAL and EVALSHA: "
        private_constant :TAKE, :WRITE, :END_ALL, :REFUSALS, :REPORT

        # @param store [ActiveSupport::Cache::Store]
        # @param errors [Array<Class>] of its client
        def initialize(store, errors)
          @store = store
          @errors = errors
          @refused = false
        end

        # @return [Boolean] false: the server has refused a script
        def usable?
          !@refused
        end

        # @param entry [ActiveSupport::Cache::Entry]
        # @param terms [Hash] as of the store's write_entry
        # @return [String]
        def dump(entry, terms)
          @store.send(:serialize_entry, entry, **terms)
        end

        # @param bytes [String, nil]
        # @param raw [Boolean, nil] is it a raw entry?
        # @return [ActiveSupport::Cache::Entry, nil] also one that has expired
        def load(bytes, raw = false)
          bytes && @store.send(:deserialize_entry, bytes, raw: raw)
        end

        # @param wanted [Array<Array(String, String, String, Float, String)>] names of lease and entry, the bytes of
        #   the lease, seconds, and bytes of a lease that it replaces
        # @return [Array<Array(String, String)>, nil] the lease that is there, and the entry; nil: no scripts
        def take(wanted)
          arguments = wanted.flat_map { |_, _, own, seconds, dead| [own, milliseconds(seconds), dead.to_s] }
          run(TAKE, names_of(wanted), arguments)&.each_slice(2)&.to_a
        end

        # @param writes [Array<Array(String, String, String, String, Float, String)>] names of lease and entry, the
        #   bytes of the lease, of the entry, seconds to keep it, and the bytes that it replaces
        # @return [Array<Boolean>, nil] was it stored? nil: no scripts
        def write(writes)
          arguments = writes.flat_map do |_, _, own, bytes, kept_in, old|
            [own, bytes, kept_in ? milliseconds(kept_in) : "", old ? Digest::SHA1.hexdigest(old) : ""]
          end
          run(WRITE, names_of(writes), arguments)&.map { |stored| stored == 1 }
        end

        # @param held [Hash{String=>String}] bytes of leases by their names
        # @return [Object, nil] nil: no scripts
        def end_all(held)
          run(END_ALL, held.keys, held.values)
        end

        private

        def names_of(rows)
          rows.flat_map { |lease, name, *| [lease, name] }
        end

        def milliseconds(seconds)
          (seconds * 1000).ceil.to_s
        end

        def run(script, names, arguments)
          @store.redis.then { |client| script.call(server_of(client, names), names, arguments) }
        rescue *@errors => e
          raise unless REFUSALS.match?(e.message)

          @refused = true
          Reports.report(RemoteError.new(REPORT + e.message), source: Reports::STORE)
          nil
        end

        # A client of several servers, which has one.
        def server_of(client, names)
          client.respond_to?(:node_for) ? client.node_for(names.first) : client
        end
      end
    end
  end
end
