# frozen_string_literal: true

# When exceptions of other threads, as of Timeout, and Thread#kill come: for Thread.handle_interrupt.

module Larder
  # Object and not Exception, as a kill is none.
  # @api private
  module Interrupts
    # They come after the block.
    DEFERRED = { Object => :never }.freeze
    # They come at once, also within a block of DEFERRED.
    IMMEDIATE = { Object => :immediate }.freeze
  end
end
