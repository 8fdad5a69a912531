# frozen_string_literal: true

# Checks the conditions of the fast path (ext/larder/rails/fast_path.h): whether Rails' methods and ours are unpatched,
# which events of the cache have subscribers, what is logged, and whether Time.now is Ruby's own. C keeps the results as
# flags, so that no call has to find out. The first call after a second has everything checked, and so has the first one
# after a change that a watcher noticed.

require "active_support/notifications"
require "active_support/duration"
require "larder/bytes/signal_handler"
require_relative "fast_path/watchers"
require_relative "fast_path/objections"
require_relative "fast_path/report"

module Larder
  module Store
    # `fetch`, `read`, `write`, their multi forms, `delete` and `exist?` in C, for calls that are common and simple: a
    # hit then costs a fraction of a microsecond. Any other call goes to the next method of the same name: that of
    # Entries, Multi or Deletion, or ActiveSupport's.
    #
    # It has no options. It turns itself off for a store of which a method that it replaces was patched or overridden,
    # and on Rails 7.1 also while an event of the cache has a subscriber.
    module FastPath
      # The extension defines:
      # - EVENTS: the names of the events that a call may have to send, with their bits
      # - OLD_PAYLOADS: a bit that is set for a subscriber on Rails 7.1, whose payloads C does not know
      # - STEPS: what C may do for the stores of a class, with their bits: make a :key, an :expanded_key, a :version or
      #   the :options of a call, leave out an :event, and answer a whole :call. :unpatched lets Entries take calls
      #   without Rails' methods
      # - NONE and EXPIRED: what NativeCalls#value_found answers if there is no value

      # The Rails on which the tests compare both paths (bin/test --matrix). Others may differ in the methods that C
      # replaces.
      TESTED_RAILS = %w[7.1 7.2 8.0 8.1].freeze

      # The methods that the C code replaces: of the store, and of what its methods call.
      STORE_METHODS = %i[
        fetch read write delete exist? read_multi write_multi fetch_multi merged_options normalize_options normalize_key
        normalize_version namespace_key expanded_key expanded_version truncate_key instrument instrument_multi
        _instrument handle_expired_entry handle_invalid_expires_in get_entry_value save_block_result_to_cache
        read_entry write_entry delete_entry read_multi_entries write_multi_entries delete_multi_entries
        serialize_entry deserialize_entry logger silence? options expand_and_namespace_key
      ].freeze
      # Those that {Entries} answers without Rails.
      OWN_METHODS = %i[fetch read write exist?].freeze
      ENTRY_METHODS = %i[initialize value expired? expires_at version mismatched?].freeze
      OPTION_METHODS = %i[initialize version version= expires_in expires_in= expires_at expires_at=].freeze
      LISTENER_METHODS = %i[listening? all_listeners_for].freeze

      # The steps that C takes also in calls of stores that are patched, each with the methods that do it in Rails: C
      # takes it if these are not patched. :unpatched is for stores whose patches have been called when Entries is, see
      # alone?. A :call needs all of STORE_METHODS.
      METHODS_OF_STEPS = {
        event: %i[instrument instrument_multi _instrument],
        key: %i[
          normalize_key expand_and_namespace_key namespace_key expanded_key truncate_key merged_options
          normalize_options options
        ],
        expanded_key: %i[expanded_key],
        version: %i[normalize_version expanded_version],
        options: %i[merged_options normalize_options handle_invalid_expires_in options]
      }.freeze

      # The methods of a key that Rails calls if it has them, and those by which it finds out.
      KEY_METHODS = %i[cache_key cache_version to_a].freeze
      QUESTIONS = %i[respond_to? respond_to_missing?].freeze
      KEY_CLASSES = [String, Symbol, Integer, Array].freeze

      # The owners of methods in C that are no patch: ours, and Ruby's own.
      NATIVE_OWNERS = [self, BasicObject, Class].freeze

      # The methods by which a logger decides about debug messages.
      LEVEL_METHODS = %i[debug? level local_level local_level_key level_override].freeze

      ROOT = "#{File.expand_path("../..", __dir__)}/".freeze
      OWN_MODULES = "Larder::Store::"
      RAILS_FILES = %w[cache notifications broadcast_logger].freeze
      private_constant :STORE_METHODS, :OWN_METHODS, :ENTRY_METHODS, :OPTION_METHODS, :LISTENER_METHODS,
                       :METHODS_OF_STEPS, :KEY_METHODS, :QUESTIONS, :KEY_CLASSES, :NATIVE_OWNERS,
                       :LEVEL_METHODS, :ROOT, :OWN_MODULES, :RAILS_FILES

      class << self
        include Objections
        include Report

        # Starts watching, and enables the fast path. Called once.
        # @api private
        def install(store_class)
          @store_class = store_class
          @off = 0
          _classes(ActiveSupport::Duration, WriteOptions)
          _options(Options.for_calls_in_c)
          _send_events(ActiveSupport::Notifications, ActiveSupport.gem_version >= Gem::Version.new("8.0.0.alpha"))
          Watchers.install
          ActiveSupport.on_load(:after_initialize) { FastPath.changed }
          changed
        end

        # Checks everything. Other threads run during a check: so it takes a ticket, C takes the ordinary path until
        # it ends, and the result counts only if nothing was changed and no later check has begun. The handler of a
        # signal cannot ask Rails for subscribers: after a change it takes the ordinary path.
        # @api private
        def check
          return if SignalHandler.runs?

          ticket = _begin_check
          _end_check(ticket, stores_with_steps, subscribed_events, log_as_known, time_unpatched?)
        end

        # Runs the block with every call on the ordinary path, to compare both. C still takes the steps that it takes
        # for such calls.
        #
        # @return [Object] what the block returns
        # @example
        #   Larder::Store::FastPath.without { Rails.cache.read("key") }
        def without
          @off += 1
          check
          yield
        ensure
          @off -= 1
          check
        end

        private

        # @return [Array<Array(Class, Integer)>] classes with the bits of their steps; C keeps the first of a long list
        def stores_with_steps
          off = objection
          store_classes.map { |store| [store, off ? 0 : STEPS.values_at(*steps_of(store)).sum] }
                       .sort_by { |_, steps| -steps }
        end

        def steps_of(store)
          return STEPS.keys - [*(:call if @off.positive?)] unless objection_to(store, STORE_METHODS)

          steps = METHODS_OF_STEPS.reject { |_, methods| objection_to(store, methods) }.keys
          alone?(store) ? [*steps, :unpatched] : steps
        end

        # True if our methods in Ruby need not call Rails': no patch is below them, or of a method that Rails' would
        # call. A subclass, or a module before our class, has been called already.
        def alone?(store)
          objection_to(store, STORE_METHODS - OWN_METHODS).nil? && OWN_METHODS.none? do |name|
            method = store.instance_method(name)
            method = method.super_method until method.nil? || method.owner.equal?(Entries)
            method.nil? || patch_in(method)
          end
        end

        # @return [Integer] the bits of events that have subscribers
        def subscribed_events
          subscribed = EVENTS.sum { |name, bit| subscribers_of(name).empty? ? 0 : bit }
          return subscribed if Keys::INSTRUMENTS_KEYS || subscribed.zero?

          EVENTS.values.sum | OLD_PAYLOADS
        end

        # @return [Array] the logger of all stores, whether it is a broadcast as C knows it, and the loggers as C knows
        #   them, it or those of the broadcast
        def log_as_known
          logger = ActiveSupport::Cache::Store.logger
          broadcast = broadcast?(logger)
          leaves = broadcast ? logger.broadcasts : [logger]
          [logger, broadcast, leaves.select { |leaf| trusted_logger?(leaf) }]
        end

        def time_unpatched?
          now = Time.method(:now)
          prepended = Time.singleton_class.ancestors.take_while { |owner| owner != Time.singleton_class }
          prepended == [Watchers::TimeWatch] && now.owner == Time.singleton_class && builtin?(now)
        end

        def store_classes
          [@store_class, *descendants_of(@store_class)]
        end

        def descendants_of(store)
          store.subclasses.flat_map { |below| [below, *descendants_of(below)] }
        end

        # The subscribers of an event; a notifier that is not Rails' own counts as one.
        def subscribers_of(name)
          notifier = ActiveSupport::Notifications.notifier
          return [notifier] unless notifier.instance_of?(ActiveSupport::Notifications::Fanout) &&
                                   LISTENER_METHODS.none? { |asked| patch_in(notifier.method(asked)) }

          notifier.all_listeners_for(name)
        end

        def broadcast?(logger)
          defined?(ActiveSupport::BroadcastLogger) && logger.instance_of?(ActiveSupport::BroadcastLogger) &&
            patch_in(logger.method(:debug?)).nil? && logger.broadcasts.instance_of?(Array)
        end

        # Do only methods of Ruby's Logger and ActiveSupport decide what it logs?
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
