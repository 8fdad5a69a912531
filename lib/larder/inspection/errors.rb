# frozen_string_literal: true

# The errors of the inspection.

require_relative "../bytes/errors"

module Larder
  module Inspection
    # The request cannot be understood. The message names the offender and what is possible.
    class Invalid < ArgumentError; end

    # The request could not be carried out.
    class Failure < ::Larder::Error; end
  end
end
