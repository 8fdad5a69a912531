# frozen_string_literal: true

# Serves values that have expired while new ones are computed, or because they cannot be computed.

require "larder/store/refreshes"

module Larder
  module Store
    # `stale_while_revalidate:` and `stale_if_error:` (RFC 5861), `early_refresh:` and `jitter:`. What is written with
    # the first two is kept for that long after it has expired. To all calls without these options it has expired.
    module StaleServing
      LENGTHS = %i[stale_while_revalidate stale_if_error].freeze
      KEEPING = [*LENGTHS, :early_refresh].freeze
      # The longest of these decides how long an entry is kept.
      WINDOWS = [*LENGTHS, :race_condition_ttl].freeze
      # Seconds for which a value is served as fresh after its block has raised.
      BACK_OFF = 5
      private_constant :KEEPING

      # As Rails'.
      #
      # @overload fetch(name, options = nil, &block)
      ruby2_keywords def fetch(name, *given, &block)
        given = with_version(name, given) if @remote
        options = given.first
        return super unless block_given? && given.size < 2 &&
                            (keeps?(@options) || (options.is_a?(Hash) && keeps?(options)))

        fetch_kept(name, merged_options(options), block)
      end

      # As Rails'. With `stale_while_revalidate:` among the options of the call, as the `cache` of a view gives them,
      # what is stale is found, but for one caller, who has the lease for the write that follows.
      #
      # @overload read(name, options = nil)
      ruby2_keywords def read(name, *given)
        given = with_version(name, given) if @remote
        options = given.first
        return super unless given.size < 2 && options.is_a?(Hash) && options.key?(:stale_while_revalidate) &&
                            keeps?(options)

        options = merged_options(options)
        key = normalize_key(name, options)
        value = read_kept(name, key, options)
        note_stamp(key, options) if value.nil? && tagged?(options)
        return value unless value.nil? && flies?(options) && Leases.of(@records, key).nil?

        read_in_flight(name, key, options)
      end

      # As Rails'.
      #
      # @overload write(name, value, options = nil)
      ruby2_keywords def write(name, value, *given)
        options = given.first
        return super unless @options.key?(:jitter) || (options.is_a?(Hash) && options.key?(:jitter))

        given = instead_of(given, with_jitter(options))
        super
      end

      private

      # A call's options, in the form of those that it was given: keywords, or a Hash.
      def instead_of(given, options)
        first = given.first
        return given if options.equal?(first)

        first.nil? || Hash.ruby2_keywords_hash?(first) ? [Hash.ruby2_keywords_hash(options)] : [options]
      end

      # True if what is written with these options is kept after it has expired, or with the duration of its block.
      def keeps?(options)
        return false unless options.key?(:stale_while_revalidate) || options.key?(:stale_if_error) ||
                            options.key?(:early_refresh)

        KEEPING.any? { |name| options[name] }
      end

      def with_jitter(options)
        all = merged_options(options)
        return options unless all[:jitter] && all[:expires_in]

        all.merge(expires_in: all[:expires_in] * (1 - (rand * all[:jitter])))
      end

      # Rails' fetch, which finds also what is not too stale.
      def fetch_kept(name, options, block)
        key = normalize_key(name, options)
        entry = reading(name, key, options) { kept_entry(name, key, options) } unless options[:force]
        entry ? serve_kept(entry, name, key, options, block) : fetch_in_flight(name, key, options, block)
      end

      # A hit, after which the value is computed again if that is due.
      def serve_kept(entry, name, key, options, block)
        refresh_due(entry, name, key, options, block)
        instrument(:fetch_hit, name, options)
        entry.value
      end

      # Sends the event of a read around the block.
      #
      # @yieldreturn [ActiveSupport::Cache::Entry, nil]
      def reading(name, key, options)
        instrument(:read, instrumented_key(name, key), options) do |payload|
          yield.tap { |entry| payload&.update(super_operation: :fetch, hit: !entry.nil?) }
        end
      end

      # Rails' read, which finds the same.
      def read_kept(name, key, options)
        instrument(:read, instrumented_key(name, key), options) do |payload|
          entry = kept_entry(name, key, options)
          if entry&.expired?
            take_for_write(key, options) ? entry = nil : announce_stale(key, options, :stale_while_revalidate)
          end
          payload&.update(hit: !entry.nil?)
          entry&.value
        end
      end

      # @return [ActiveSupport::Cache::Entry, nil] whose value can be read
      def kept_entry(name, key, options)
        usable(stored_entry(key, options), name, options, :stale_while_revalidate)
      end

      # @param length [Symbol] the option that says for how long a value is served after it has expired
      def usable(entry, name, options, length)
        entry if entry && !entry.mismatched?(normalize_version(name, options)) && within?(entry, options[length])
      end

      # The entry of a key, however stale.
      def stored_entry(key, _options)
        kept_copy(key)
      end

      # The entry that the file has, however stale.
      def kept_copy(key)
        loadable(failsafe(:read_entry) { @records.get_kept_entry(key, now_ms) })
      end

      # The entry of what was found, if its value can be read. Not one that has expired and was not to be served stale:
      # it is there for race_condition_ttl.
      def loadable(found)
        entry = entry_of(found) if found
        entry&.value
        entry unless entry&.expired? && !(found.instance_of?(Array) && found.size.even?)
      rescue ActiveSupport::Cache::DeserializationError
        nil
      end

      # @param reason [Symbol] the option by which a value that has expired was served
      def announce_stale(key, options, reason)
        announce("stale.larder", key, options, reason: reason)
      end

      def within?(entry, seconds)
        !entry.expired? || now - entry.expires_at < seconds.to_f
      end

      def take_for_write(key, options)
        lease = take_over(key, options, false)
        lease && hold_for_write(key, lease, options, :stale_while_revalidate)
      end

      # @return [String, nil] the lease of a key whose value has expired, or has to be computed early
      def take_over(key, options, early)
        status, lease = take_lease(key, options, nil)
        if status == Records::PRESENT
          return unless early || kept_copy(key)&.expired? # another caller was faster

          status, lease = take_lease(key, options, lease)
        end
        lease if status == Records::TAKEN
      end

      # Has a value computed again if it has expired, or soon will.
      def refresh_due(entry, name, key, options, block)
        early = !entry.expired? && options[:early_refresh] &&
                failsafe(:read_entry, returning: false) { @records.early?(key, now_ms) }
        refresh(name, key, options, block, early, entry) if early || entry.expired?
      end

      # Computes a value again, later and once. Called by the fast path, too. Key and version are those of now: later
      # the name may have changed, and a namespace that is asked for in another thread may be another one.
      def refresh(name, key, options, block, early, entry = nil)
        announce_stale(key, options, :stale_while_revalidate) unless early
        lease = take_over(key, options, early)
        return unless lease

        key, options = key.dup.freeze, terms_of_refresh(name, options)
        Refreshes.later do |runs|
          began = now
          next @records.lease_end(key, lease, 0, now_ms) unless runs && !backs_off?(key, entry)

          recompute(name, key, options, block, lease)
        rescue Exception => e # rubocop:disable Lint/RescueException -- nobody else would learn of it
          report_stale(e)
          back_off(key, options, began)
        end
      end

      def terms_of_refresh(name, options)
        options.merge(namespace: nil, version: normalize_version(name, options), tags: texts_of(options))
               .except(:single_flight, :soft_timeout)
      end

      # @return [Array, nil] the value; nil: the block raised, which is reported
      def recompute(name, key, options, block, lease)
        arguments = Keys::INSTRUMENTS_KEYS ? [key, key] : [key]
        value = with_lease(key, lease, options, backs_off: true) do
          @records.count_deed(Records::REFRESHED)
          announce("refresh.larder", key, options) do
            save_block_result_to_cache(*arguments, options) { |_, write_options| block.call(name, write_options) }
          end
        end
        [value]
      rescue StandardError => e
        report_stale(e)
        nil
      end

      # SingleFlight's, after an error of the block and before the lease ends.
      #
      # @param _began [Float] Unix time before the block
      # @return [Integer] how many seconds the file's old value counts as fresh
      def after_error(_key, _options, _began)
        BACK_OFF
      end

      # Store's, called after a miss of `fetch`.
      def save_block_result_to_cache(name, *key, options, &block)
        return super unless keeps?(options)

        text = key.first || normalize_key(name, options)
        or_old(name, text, options, block) { |watched| super(name, *key, options, &watched) }
      end

      # SingleFlight's. Yields the block, or one that notes whether the block is running.
      def or_old(name, key, options, block)
        return yield block unless options[:stale_if_error]

        began = nil
        earlier = $ERROR_INFO
        watched = lambda do |*given|
          began = now
          block.call(*given).tap { began = nil }
        end
        begin
          yield watched
        rescue StandardError => e
          # A lease that is held here is of a refresh.
          raise if !began || Outside.raised?(e, since: earlier) || Leases.of(@records, key)

          serve_after(e, name, key, options, began)
        end
      end

      # The old value, which counts as fresh for a while, so that not every call fails.
      def serve_after(error, name, key, options, began)
        entry = old_entry(name, key, options)
        raise error unless entry

        back_off(key, options, began, entry)
        report_stale(error)
        announce_stale(key, options, :stale_if_error)
        entry.value
      end

      # @return [ActiveSupport::Cache::Entry, nil] the answer if the block raises; nil without `stale_if_error:`
      def old_entry(name, key, options)
        usable(stored_entry(key, options), name, options, :stale_if_error) if options[:stale_if_error]
      end

      # From now on the old value counts as fresh for a while, unless it has expired after the block began: then it may
      # have been stored after that, and no block has raised for it.
      #
      # @param began [Float] Unix time
      # @param entry [ActiveSupport::Cache::Entry, nil] the old value
      def back_off(key, options, began, entry = stored_entry(key, options))
        return unless entry&.expired? && entry.expires_at <= began

        keep_old(key, entry, options)
      end

      def keep_old(key, _entry, options)
        status, lease = take_lease(key, options, nil)
        @records.lease_end(key, lease, BACK_OFF * 1000, now_ms) if status == Records::TAKEN
      end

      # True if the block of an old value has raised a short while ago and must not run. Without a remote store the
      # file's value counts as fresh then.
      def backs_off?(_key, _entry)
        false
      end

      def report_stale(error)
        ActiveSupport.error_reporter&.report(error, handled: true, severity: :warning, source: Failsafe::SOURCE)
      rescue StandardError => e
        report_reporter(e)
      end

      # As Rails does, which without a logger raises: here the old value is the answer.
      def report_reporter(error)
        message = "Error subscriber raised an error: #{error.message} (#{error.class})"
        logger ? logger.fatal { [message, *error.backtrace].join("\n") } : warn(message)
      end

      # Entries', with how long it is kept.
      def record_of(entry, options)
        return super unless keeps?(options)

        stale = WINDOWS.filter_map { |name| options[name]&.to_f }.max
        @records.kept(super, (stale.to_f * 1000).ceil, compute_ms_of(options))
      end

      # One by one, as each is kept.
      def write_multi_entries(entries, **options)
        return super unless keeps?(options)

        entries.map { |key, entry| write_entry(key, entry, **options) }.all? && entries
      end
    end
  end
end
