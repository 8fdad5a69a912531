# frozen_string_literal: true

# Tells whether the handler of a signal (`trap`) runs. It interrupts the main thread at any place, so Ruby lets it take
# no lock: the thread may have that lock already.

module Larder
  # @api private
  module SignalHandler
    module_function

    # @return [Boolean]
    def runs?
      Mutex.new.synchronize { false } # an unused one: all that can fail is that none may be taken
    rescue ThreadError
      true
    end
  end
end
