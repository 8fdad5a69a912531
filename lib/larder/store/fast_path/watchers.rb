# frozen_string_literal: true

# Modules that are put into classes of Rails and Ruby, so that what tests change takes effect at once: stubs of all
# objects of a class, prepended modules, time travel, subscribers, the logger. They call super, and then have everything
# checked by the next call of a store. All other changes are found by the check of each second.

module Larder
  module Store
    module FastPath
      # @api private
      module Watchers
        # Notices methods and modules that are put into a class, as `prepend`, any_instance of mocha and RSpec, and
        # alias chains do. A stub of one object is noticed by C: the object then has a singleton class.
        module ClassWatch
          # @api private
          def method_added(_name)
            super.tap { FastPath.changed }
          end

          # @api private
          def prepend(...)
            super.tap { FastPath.changed }
          end
        end

        # Notices stubs of Time.now: by travel_to and freeze_time, by mocks, by gems that freeze time.
        module TimeWatch
          # @api private
          def singleton_method_added(_name)
            super.tap { FastPath.changed }
          end
        end

        # Notices subscribers. One that has unsubscribed gets no events in any case, as Rails decides that.
        module FanoutWatch
          # @api private
          def subscribe(...)
            super.tap { FastPath.changed }
          end
        end

        # Notices that the logger of all stores is set, which any store may do.
        module LoggerWatch
          # @api private
          def logger=(logger)
            super.tap { FastPath.changed }
          end
        end

        # Puts each where it watches. Subclasses of a watched class are watched, too.
        def self.install
          store = ActiveSupport::Cache::Store
          store.extend(ClassWatch)
          Time.singleton_class.extend(ClassWatch)
          Time.singleton_class.prepend(TimeWatch)
          ActiveSupport::Notifications::Fanout.prepend(FanoutWatch)
          [store, store.singleton_class].each { |owner| owner.prepend(LoggerWatch) }
        end
      end
      private_constant :Watchers
    end
  end
end
