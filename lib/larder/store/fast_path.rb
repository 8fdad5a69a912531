# frozen_string_literal: true

# Owns the conditions of the fast path (ext/larder/fast_path.c): whether Rails' methods and ours are unpatched, who
# listens to the cache's events, and whether Time.now is Ruby's own. C keeps the answers as flags; watchers change them
# at the moment something does, so that no call has to ask. What they cannot see is found by a look at everything, which
# C asks for in the first call after a second.

require "active_support/notifications"
require "active_support/duration"
require_relative "fast_path/watchers"
require_relative "fast_path/objections"
require_relative "fast_path/report"

module Larder
  module Store
    # `fetch`, `read`, `write`, their multi forms, `delete` and `exist?` in C, for calls that are common and simple: a
    # hit then costs a fraction of a microsecond. Any other call goes to ActiveSupport's method of the same name.
    #
    # Nothing of it can be configured. It turns itself off for a store where somebody patched or overrode a method that
    # it stands in for, and for an event that somebody listens to.
    module FastPath
      # The events that it could owe to a subscriber, as its bits in C.
      EVENTS = { read: 1, fetch_hit: 2, generate: 4, write: 8, read_multi: 16, write_multi: 32,
                 delete: 64, exist?: 128 }
               .transform_keys { |operation| "cache_#{operation}.active_support" }.freeze

      # Set beside all of them where somebody listens on Rails 7.1, whose payloads C does not know.
      OLD_PAYLOADS = 256

      # The Rails that the tests compare both paths on (bin/test --matrix). What another does in the methods that C
      # stands in for, nobody has looked at.
      TESTED_RAILS = %w[7.1 7.2 8.0 8.1].freeze

      # What the C code does in place of, where it does; of the store, and of what its methods call.
      STORE_METHODS = %i[
        fetch read write delete exist? read_multi write_multi fetch_multi merged_options normalize_options normalize_key
        normalize_version namespace_key expanded_key expanded_version truncate_key instrument instrument_multi
        _instrument handle_expired_entry handle_invalid_expires_in get_entry_value save_block_result_to_cache
        read_entry write_entry delete_entry read_multi_entries write_multi_entries delete_multi_entries
        serialize_entry deserialize_entry entry_of record_of plain_record logger silence? options
        expand_and_namespace_key to_compress? with_compression now now_ms
      ].freeze
      ENTRY_METHODS = %i[initialize value expired? expires_at version mismatched?].freeze
      OPTION_METHODS = %i[initialize version version= expires_in expires_in= expires_at expires_at=].freeze
      LISTENER_METHODS = %i[listening? all_listeners_for].freeze
      WATCHED_METHODS = (STORE_METHODS + ENTRY_METHODS + OPTION_METHODS + LISTENER_METHODS + [:new]).uniq.freeze

      # Of Store, what Keys does in place of.
      SHORTENED = %i[normalize_options namespace_key].freeze

      # What Rails asks a key for, if it has it, and how it asks whether it has.
      KEY_METHODS = %i[cache_key cache_version to_a].freeze
      QUESTIONS = %i[respond_to? respond_to_missing?].freeze
      KEY_CLASSES = [String, Symbol, Integer, Array].freeze

      # Whose methods may have been written in C: ours, and Ruby's own.
      NATIVE_OWNERS = [self, BasicObject, Class].freeze

      # What a logger's debug? comes down to.
      LEVEL_METHODS = %i[debug? level local_level local_level_key level_override].freeze

      # What Entries#value_found answers where there is no value.
      NONE = Object.new.freeze
      EXPIRED = Object.new.freeze

      ROOT = "#{File.expand_path("../..", __dir__)}/".freeze
      OWN_MODULES = "Larder::Store::"
      RAILS_FILES = %w[cache notifications broadcast_logger].freeze
      private_constant :EVENTS, :OLD_PAYLOADS, :STORE_METHODS, :ENTRY_METHODS, :OPTION_METHODS, :WATCHED_METHODS,
                       :LISTENER_METHODS, :SHORTENED, :KEY_METHODS, :QUESTIONS, :KEY_CLASSES, :NATIVE_OWNERS,
                       :LEVEL_METHODS, :ROOT, :OWN_MODULES, :RAILS_FILES

      class << self
        include Objections
        include Report

        # Starts watching, once, and arms.
        # @api private
        def install(store_class)
          @store_class = store_class
          @off = 0
          _classes(ActiveSupport::Duration, ActiveSupport::Cache::WriteOptions)
          _markers(NONE, EXPIRED)
          self._notifications = ActiveSupport::Notifications
          Watchers.post(store_class)
          ActiveSupport.on_load(:after_initialize) { FastPath.look_again }
          look_again
        end

        # Looks at everything again: also at what no watcher sees. Other threads run meanwhile, so each look takes a
        # ticket first, upon which C takes the ordinary path, and goes by what the latest one found.
        # @api private
        def look_again
          listeners_changed
          logger_changed
          look_at_time
          enable
        end

        # Looks at every method again.
        # @api private
        def enable
          ticket = _look_at_methods
          @store_patched = SHORTENED.any? { |name| patch_in(ActiveSupport::Cache::Store.instance_method(name)) }
          _enable(ticket, objection ? [] : store_classes.reject { |store| objection_to(store) })
        end

        # @return [Boolean] has somebody patched a method of Rails' that Keys has a shorter form of?
        # @api private
        def store_patched?
          @store_patched
        end

        # @api private
        def listeners_changed
          ticket = _look_at_listeners
          subscribed = EVENTS.sum { |name, bit| listeners_to(name).empty? ? 0 : bit }
          subscribed = EVENTS.values.sum | OLD_PAYLOADS if subscribed.positive? && !Keys::INSTRUMENTS_KEYS
          _subscribe(ticket, subscribed)
        end

        # @api private
        def logger_changed
          ticket = _look_at_log
          logger = ActiveSupport::Cache::Store.logger
          broadcast = broadcast?(logger)
          leaves = broadcast ? logger.broadcasts : [logger]
          _log_to(ticket, logger, broadcast, leaves.select { |leaf| trusted_logger?(leaf) })
        end

        # @api private
        def look_at_time
          ticket = _look_at_time
          now = Time.method(:now)
          in_front = Time.singleton_class.ancestors.take_while { |owner| owner != Time.singleton_class }
          _go_by_clock(ticket, in_front == [Watchers::TimeWatch] && now.owner == Time.singleton_class && builtin?(now))
        end

        # Runs the block with every call on the ordinary path: for tests, and for those who doubt.
        #
        # @return [Object] what the block returns
        # @example
        #   Larder::Store::FastPath.without { Rails.cache.read("key") }
        def without
          @off += 1
          enable
          yield
        ensure
          @off -= 1
          enable
        end

        private

        def store_classes
          [@store_class, *descendants_of(@store_class)]
        end

        def descendants_of(store)
          store.subclasses.flat_map { |below| [below, *descendants_of(below)] }
        end

        # Who listens to an event, or may: of a notifier that is not Rails' nobody knows.
        def listeners_to(name)
          notifier = ActiveSupport::Notifications.notifier
          return [notifier] unless notifier.instance_of?(ActiveSupport::Notifications::Fanout) &&
                                   LISTENER_METHODS.none? { |asked| patch_in(notifier.method(asked)) }

          notifier.all_listeners_for(name)
        end

        def broadcast?(logger)
          defined?(ActiveSupport::BroadcastLogger) && logger.instance_of?(ActiveSupport::BroadcastLogger) &&
            patch_in(logger.method(:debug?)).nil? && logger.broadcasts.instance_of?(Array)
        end

        # Is what it logs decided by Ruby's Logger and ActiveSupport alone?
        def trusted_logger?(logger)
          logger.is_a?(::Logger) && LEVEL_METHODS.all? do |name|
            !logger.respond_to?(name, true) || [*rails_root, logger_file].any? do |known|
              logger.method(name).source_location&.first&.start_with?(known)
            end
          end
        end

        def logger_file
          @logger_file ||= ::Logger.instance_method(:add).source_location.first
        end

        def rails_root
          @rails_root ||= File.dirname(ActiveSupport::Notifications.singleton_class.instance_method(:subscribed)
                                         .source_location.first)
        end

        def builtin?(method)
          file = method.source_location&.first
          file.nil? || file.start_with?("<internal:")
        end
      end
    end
  end
end
