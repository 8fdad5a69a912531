# frozen_string_literal: true

# The options of the Rails store and of its calls. A new option is a row here, and the code that uses it. The rows
# decide the checks of the constructor and of calls, the names that are proposed for a wrong one, what C does with an
# option (ext/larder/rails/fast_options.c), and the tables of docs/reference/options.md, which `rake docs:options`
# writes.

require "larder/store/options/types"

module Larder
  module Store
    module Options
      # A row:
      # - `name`
      # - `places`: where it has an effect, :store (the constructor) and :call
      # - `type`: what it takes, with its unit; see Types
      # - `effect`: one sentence for people
      # - `default`: the value that it has if it is not given
      # - `default_text`: the same for people, if the value does not say it
      # - `c`: what C does with it in a call. :ordinary, unless the row says otherwise: a call that has the option goes
      #   to the ordinary path. :seconds, :keeps and :off are several options', see fast_options.c
      # - `synonyms`: names that other libraries have for it
      # - `traits`:
      #     :larder     Rails' stores do not have it, so the store of `remote:` does not get it
      #     :inherited  that of the store of `remote:` holds, unless it is given
      #     :no_copy    with `remote:`, the file has no copy of such an entry
      #     :internal   of Larder's sessions, not of applications
      Option = Struct.new(:name, :places, :type, :effect, :default, :default_text, :c, :synonyms, :traits,
                          keyword_init: true)

      # @api private
      module Rows
        include Types

        # The places of a row.
        STORE = %i[store].freeze
        CALL = %i[call].freeze
        BOTH = %i[store call].freeze
        private_constant :STORE, :CALL, :BOTH

        # @return [Option]
        def self.row(name, places, type, effect = nil, traits: [], synonyms: [], c: :ordinary, **columns)
          Option.new(name: name, places: places, type: type, effect: effect, traits: traits, synonyms: synonyms,
                     c: c, **columns).freeze
        end
        private_class_method :row

        ALL = [
          row(:persistent, STORE, SWITCH,
              "false: the file is in memory, in `/dev/shm`: Larder writes to no disk, and a restart of the machine " \
              "or container empties the cache", default: true),
          row(:size, STORE, SIZE, "bytes of the file, which keeps the size that it was created with",
              default_text: "`LARDER_SIZE`, otherwise 256 MiB",
              synonyms: %i[bytes max_bytes max_entries capacity max_memory]),
          row(:max_size, STORE, SAME_SIZE, "the same as `size:`; giving both is an `ArgumentError`", default_text: ""),
          row(:lock_timeout, STORE, LOCK, "how long a write waits for the lock of a process that is alive",
              default_text: "0.2"),
          row(:raise_errors, STORE, SWITCH, "raises each failure instead of answering a miss", default: false),
          row(:error_handler, STORE, HANDLER,
              "gets `method:`, `returning:` and `exception:` of each failure; [see below](#failures)",
              default_text: "the log and `ActiveSupport.error_reporter`, once a minute for each cause and kind of call",
              synonyms: %i[on_error]),
          row(:statistics, STORE, SWITCH,
              "counts hits, misses, bytes and evictions by keyspace and time in a file next to the cache, for " \
              "`larder stat` and `larder top` ([monitoring](../guides/monitoring.md))", default: true,
              synonyms: %i[stats metrics]),
          row(:keyspaces, STORE, KEYSPACES,
              "beginnings of keys that statistics count as groups, with `*` for any characters except `/` and `:`, " \
              "such as `\"products/*/price\"`", default_text: "the part of a key before its first `/` or `:`"),
          row(:max_key_size, STORE, KEY_LIMIT,
              "longer keys end in a digest; false and more than 4,095 mean 4,095, with `remote:` 4,085",
              default_text: "250 on Rails 8.1 and newer, 4,095 before"),
          row(:serializer, STORE, SERIALIZER, "turns values into bytes ([codecs](../guides/codecs.md))",
              default_text: "Larder's own"),
          row(:compressor, STORE, COMPRESSOR, "compresses, if `compress:` is on", default: :gzip),
          row(:coder, STORE, CODER, "turns entries into bytes, in place of `serializer:` and `compressor:`",
              default_text: "Larder's own"),
          row(:remote, STORE, REMOTE,
              "the store that several machines share; the file has [copies](../adr/0033-two-levels.md) of its entries",
              default_text: "none", synonyms: %i[redis_url]),
          row(:remote_id, STORE, ID,
              "names the servers of `remote:`; required if its client comes from a block, as `redis: -> { … }`, or " \
              "is of an unknown class. Give other servers another name: stores of one name share their copies",
              default_text: "the servers of `remote:`, as far as they are known without a connection"),
          row(:local_expires_in, STORE, LOCAL_LIFE, "with `remote:`, how long a copy is used",
              default_text: "5; 60 with `backplane:`"),
          row(:backplane, STORE, BACKPLANE,
              "with `remote:`, the server over which machines notify each other which copies are old " \
              "([guide](../guides/many-machines.md#what-backplane-takes))", default_text: "none"),
          row(:sign_with, STORE, SECRETS,
              "with `remote:`, signs entries of the remote store, and reads only signed ones; refused if that store " \
              "has a coder of its own ([codecs](../guides/codecs.md))", default_text: "none"),

          row(:expires_in, BOTH, LIFE, "how long an entry lives; nil: for ever", c: :expires_in, traits: %i[inherited],
              synonyms: %i[ttl expire expires expiry expiration expire_after expires_after lifetime max_age]),
          row(:expire_in, BOTH, SAME_LIFE, "the same as `expires_in:`", default_text: ""),
          row(:expired_in, BOTH, SAME_LIFE, "the same as `expires_in:`", default_text: ""),
          row(:race_condition_ttl, BOTH, RACE,
              "`fetch` of an expired entry: one process computes the new value, the others get the expired one for " \
              "this time; with `single_flight: true` they wait for the new one",
              c: :race_condition_ttl, traits: %i[inherited]),
          row(:namespace, BOTH, PREFIX,
              "prefix of every key; an object is called at each use. `clear(namespace:)` empties " \
              "[one](../guides/tags.md#namespaces)",
              default_text: "nil, or that of `remote:`", c: :namespace, synonyms: %i[prefix key_prefix ns]),
          row(:compress, BOTH, RAILS_SWITCH, "compresses entries that become smaller", default: false, c: :compress,
                                                                                      synonyms: %i[compression]),
          row(:compress_threshold, BOTH, BYTES,
              "shorter entries are not compressed; that of the store also turns `compress:` on",
              default: 1024, c: :compress_threshold),
          row(:skip_nil, BOTH, RAILS_SWITCH, "`fetch` and `fetch_multi` do not store nil", default: false, c: :skip_nil,
                                                                                          traits: %i[inherited]),
          row(:force, BOTH, RAILS_SWITCH, "`fetch` and `fetch_multi` compute the value, whatever is stored",
              default: false, c: :off, synonyms: %i[force_refresh]),
          row(:single_flight, BOTH, SWITCH,
              "`fetch` and `fetch_multi`: one of all callers that miss a key computes its value, and the others " \
              "wait ([guide](../guides/stampedes.md))",
              default: false, c: :single_flight, traits: %i[larder],
              synonyms: %i[lock dogpile coalesce singleflight]),
          row(:wait, BOTH, WAIT,
              "with `single_flight:`, how long a call waits in all before it computes the value itself, without " \
              "storing it",
              default: 5, c: :seconds, traits: %i[larder]),
          row(:lease, BOTH, TIME,
              "how long a caller may take to compute before another one does, with `single_flight:` and for values " \
              "that are computed again; it should be longer than the block takes",
              default: 30, c: :seconds, traits: %i[larder]),
          row(:stale_while_revalidate, BOTH, TIME,
              "how long after its expiry `fetch` and `fetch_multi` serve an entry, and also `read` and `read_multi` " \
              "if the call has the option; one caller of the first two has it " \
              "[computed again](../guides/stale-values.md)",
              c: :stale_while_revalidate, traits: %i[larder], synonyms: %i[swr stale serve_stale]),
          row(:stale_if_error, BOTH, TIME,
              "how long after its expiry an entry is the answer if the block of `fetch` or `fetch_multi` raises",
              c: :keeps, traits: %i[larder]),
          row(:soft_timeout, BOTH, TIME,
              "with `stale_if_error:`, how long `fetch` waits for its block, and for the store of `remote:`, before " \
              "the expired entry is the answer; both go on in a thread", c: :seconds, traits: %i[larder]),
          row(:early_refresh, BOTH, SWITCH,
              "`fetch` and `fetch_multi` have an entry computed again before it expires, by chance: the likelier, " \
              "the longer it takes to compute", default: false, c: :early_refresh, traits: %i[larder]),
          row(:tags, BOTH, TAGS,
              "`fetch`, `fetch_multi`, `write`, `write_multi`: `delete_tagged` of one of these tags deletes the " \
              "entry ([guide](../guides/tags.md))",
              default_text: "none", c: :tags, traits: %i[larder], synonyms: %i[tag tagged]),
          row(:jitter, BOTH, PART,
              "an entry may [expire earlier](../guides/stale-values.md) by up to this part of " \
              "`expires_in:`, at random",
              c: :jitter, traits: %i[larder]),
          row(:raw, BOTH, RAILS_SWITCH, "no effect, as in Rails' file store; with `remote:` as in that store",
              default: false, c: :raw, traits: %i[no_copy]),
          row(:version, BOTH, LABEL, "an entry of another version is a miss",
              default_text: "that of the name, if it has one", c: :version),
          row(:unless_exist, BOTH, RAILS_SWITCH,
              "`write` stores only if there is no live entry; with `remote:`, one that " \
              "[is kept as an old value](../guides/many-machines.md#what-is-answered-where) counts as live",
              default: false, c: :off, traits: %i[no_copy], synonyms: %i[nx unless_exists if_not_exist]),

          row(:expires_at, CALL, MOMENT, "when the entry expires, in place of `expires_in:`", default_text: ""),
          row(:kept, CALL, ANY, traits: %i[internal])
        ].freeze
      end

      # The rows by their names.
      TABLE = Rows::ALL.to_h { |option| [option.name, option] }.freeze
      private_constant :Rows
    end
  end
end
