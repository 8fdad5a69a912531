# frozen_string_literal: true

# Logs options that have no effect, with the one that was probably meant: each name once in a process. Rails' stores
# ignore them silently.

require "larder/bytes/application"
require "larder/codecs/reports"

module Larder
  module Store
    # Called by Options for each name that has no effect where it was given. The fast path passes calls with such names
    # to the ordinary path, so a hit that it answers costs nothing more.
    module UnknownOptions
      # Options of Rails' other stores and helpers, of Redis' and memcached's clients, and of Solid Cache. They cause no
      # warning, because applications use one Hash of options for several stores.
      ELSEWHERE = {
        rails: ActiveSupport::Cache::UNIVERSAL_OPTIONS,
        stores: %i[error_handler event max_key_size max_prune_time pool],
        redis_cache_store: %i[redis url host port db username password ssl ssl_params sentinels role replica cluster
                              nodes fixed_hostname replica_affinity driver protocol id timeout connect_timeout
                              read_timeout write_timeout command_timeout reconnect_attempts inherit_socket custom
                              middlewares pool_size pool_timeout name sentinel_username sentinel_password
                              idle_timeout circuit_breaker command_builder client_implementation driver_info
                              concurrency slow_command_timeout],
        mem_cache_store: %i[addresses failover threadsafe cache_nils value_max_bytes digest_class compression_min_size
                            socket_timeout socket_max_failures socket_failure_delay down_retry_delay keepalive
                            sndbuf rcvbuf ssl_context error_when_over_max_size raise_errors_on_large_values],
        solid_cache_store: %i[database databases connects_to clusters shards expiry_batch_size expiry_method
                              expiry_queue encrypt encryption_context_properties size_estimate_samples
                              active_record_instrumentation clear_with],
        helpers: %i[skip_digest template virtual_path digest_path]
      }.values.flatten.freeze
      # Names that other libraries have for the path, which is the first argument.
      PATH = %i[path file filename file_name file_path cache_path dir directory location].freeze
      # Maximum number of remembered names. Later ones are not reported.
      MOST = 1000
      private_constant :ELSEWHERE, :PATH, :MOST

      @reported = {}

      class << self
        # @param name [Object] a key of the options
        # @param place [Symbol] :store or :call, where it has no effect
        def report(name, place)
          return if ELSEWHERE.include?(name) || !first?(name)

          write("#{"#{line(place)}: " if line(place)}larder: #{sentence(name, place)}")
        end

        # Forgets what was reported, for tests.
        #
        # @api private
        def reset
          @reported.clear
        end

        private

        def first?(name)
          !@reported.key?(name) && @reported.size < MOST && (@reported[name] = true)
        end

        def sentence(name, place)
          start = "LarderStore has no option #{name.inspect}"
          return misplaced(name, place) if Options::TABLE.key?(name)

          meant = meant(name, place)
          case meant
          when nil then "#{start} and ignores it; docs/reference/options.md has the options"
          when :path
            "#{start}; the path is the first argument: config.cache_store = :larder_store, \"storage/cache.larder\""
          else "#{start}; did you mean #{meant.inspect}?#{" It is an option of the store, not of calls" \
                                                          unless Options.names(place).include?(meant)}"
          end
        end

        def misplaced(name, place)
          return "#{name.inspect} of LarderStore is an option of calls and has no effect in the constructor" \
            if place == :store

          "#{name.inspect} of LarderStore is an option of the constructor and has no effect in a call"
        end

        # Options are named by Symbols, as in all Rails' stores.
        def meant(name, place)
          return unless name.is_a?(Symbol) || name.is_a?(String)

          symbol = name.to_s.scrub.to_sym
          return symbol if Options::TABLE.key?(symbol) && name.is_a?(String)

          return :path if PATH.include?(symbol)

          Options.synonyms[symbol] || resembling(symbol, Options.names(place)) ||
            resembling(symbol, Options.names(:store))
        end

        def resembling(name, names)
          DidYouMean::SpellChecker.new(dictionary: names).correct(name).first if defined?(DidYouMean)
        end

        def line(place)
          Application.calling_line(place == :store ? :cache_store : nil)
        end

        def write(text)
          logger = Reports.logger
          logger ? logger.warn(text) : warn(text)
        end
      end
    end
  end
end
