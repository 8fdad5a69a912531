# frozen_string_literal: true

# The errors of command lines.

require_relative "../bytes/errors"

module Larder
  module CLI
    # What was typed cannot be understood. The message names the offender and what is possible.
    class UsageError < StandardError; end

    # What was asked for could not be done.
    class Failure < ::Larder::Error; end
  end
end
