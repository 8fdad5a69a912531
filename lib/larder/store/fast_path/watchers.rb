# frozen_string_literal: true

# Owns the watchers: modules in Rails' and Ruby's classes that see the moment at which something changes there, call
# super, and have FastPath look at it.

module Larder
  module Store
    module FastPath
      # @api private
      module Watchers
        # Sees subscribers come and go, and a notifier being stubbed.
        module FanoutWatch
          # @api private
          def subscribe(...)
            super.tap { FastPath.listeners_changed }
          end

          # @api private
          def unsubscribe(...)
            super.tap { FastPath.listeners_changed }
          end

          # @api private
          def singleton_method_added(name)
            super.tap { FastPath.listeners_changed }
          end
        end

        # Sees the notifier being replaced.
        module NotifierWatch
          # @api private
          def notifier=(notifier)
            super.tap { FastPath.listeners_changed }
          end
        end

        # Sees methods of a class or module being defined, prepended or included, whoever does it.
        module ClassWatch
          # @api private
          def method_added(name)
            super.tap { FastPath.look_again if WATCHED_METHODS.include?(name) }
          end

          # @api private
          def prepend(...)
            super.tap { FastPath.look_again }
          end

          # @api private
          def include(...)
            super.tap { FastPath.look_again }
          end
        end

        # Sees the same of the methods that a class or module has itself.
        module SingletonWatch
          # @api private
          def singleton_method_added(name)
            super.tap { FastPath.look_again if WATCHED_METHODS.include?(name) }
          end

          # @api private
          def extend(...)
            super.tap { FastPath.look_again }
          end
        end

        # The same for stores, whose subclasses are stores.
        module StoreWatch
          include ClassWatch

          # @api private
          def inherited(subclass)
            super.tap { FastPath.look_again }
          end
        end

        # Sees the logger of all stores being set, which any store may do.
        module LoggerWatch
          # @api private
          def logger=(logger)
            super.tap { FastPath.logger_changed }
          end
        end

        # Sees modules being prepended to Time's own methods. What such a module has or will get, nobody knows.
        module TimeClassWatch
          # @api private
          def prepend(...)
            super.tap { FastPath.look_at_time }
          end
        end

        # Sees Time.now being stubbed: by travel_to, by mocks, by gems that freeze time. From then on Time.now is asked.
        module TimeWatch
          # @api private
          def singleton_method_added(name)
            super.tap { FastPath.look_at_time if name == :now }
          end
        end

        # Puts each where it watches.
        def self.post(store_class)
          notifications = ActiveSupport::Notifications
          notifications::Fanout.prepend(FanoutWatch)
          notifications.singleton_class.prepend(NotifierWatch)
          ActiveSupport::Cache::Store.extend(StoreWatch)
          ActiveSupport::Cache::Store.prepend(LoggerWatch)
          ActiveSupport::Cache::Store.singleton_class.prepend(LoggerWatch)
          watch_classes([ActiveSupport::Cache::Entry, ActiveSupport::Cache::WriteOptions, notifications::Fanout],
                        [ActiveSupport::Cache::Entry, ActiveSupport::Cache::WriteOptions, notifications],
                        store_class.ancestors.take_while { |owner| owner != store_class.superclass } - [store_class])
          Time.singleton_class.prepend(TimeWatch)
          Time.singleton_class.extend(TimeClassWatch)
        end

        def self.watch_classes(classes, of_their_own, modules)
          [*classes, *of_their_own.map(&:singleton_class), *modules].each { |watched| watched.extend(ClassWatch) }
          of_their_own.each { |watched| watched.singleton_class.prepend(SingletonWatch) }
        end
        private_class_method :watch_classes
      end
      private_constant :Watchers
    end
  end
end
