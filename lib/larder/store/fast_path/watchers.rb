# frozen_string_literal: true

# Modules that are put into classes of Rails and Ruby, to notice changes there: they call super, and then have FastPath
# check.

module Larder
  module Store
    module FastPath
      # @api private
      module Watchers
        # Notices subscribers, and stubs of the notifier.
        module FanoutWatch
          # @api private
          def subscribe(...)
            super.tap { FastPath.check_subscribers }
          end

          # @api private
          def unsubscribe(...)
            super.tap { FastPath.check_subscribers }
          end

          # @api private
          def singleton_method_added(name)
            super.tap { FastPath.check_subscribers }
          end
        end

        # Notices that the notifier is replaced.
        module NotifierWatch
          # @api private
          def notifier=(notifier)
            super.tap { FastPath.check_subscribers }
          end
        end

        # Notices that methods of a class or module are defined, prepended or included.
        module ClassWatch
          # @api private
          def method_added(name)
            super.tap { FastPath.check if WATCHED_METHODS.include?(name) }
          end

          # @api private
          def prepend(...)
            super.tap { FastPath.check }
          end

          # @api private
          def include(...)
            super.tap { FastPath.check }
          end
        end

        # Notices the same of singleton methods.
        module SingletonWatch
          # @api private
          def singleton_method_added(name)
            super.tap { FastPath.check if WATCHED_METHODS.include?(name) }
          end

          # @api private
          def extend(...)
            super.tap { FastPath.check }
          end
        end

        # As ClassWatch, for stores: their subclasses are stores too.
        module StoreWatch
          include ClassWatch

          # @api private
          def inherited(subclass)
            super.tap { FastPath.check }
          end
        end

        # Notices that the logger of all stores is set, which any store may do.
        module LoggerWatch
          # @api private
          def logger=(logger)
            super.tap { FastPath.check_log }
          end
        end

        # Notices modules that are prepended to Time's singleton class, whatever methods they have or will have.
        module TimeClassWatch
          # @api private
          def prepend(...)
            super.tap { FastPath.check_clock }
          end
        end

        # Notices that Time.now is stubbed: by travel_to, by mocks, by gems that freeze time. C then calls Time.now.
        module TimeWatch
          # @api private
          def singleton_method_added(name)
            super.tap { FastPath.check_clock if name == :now }
          end
        end

        # Puts each where it watches.
        def self.install(store_class)
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
