# frozen_string_literal: true

# The errors of the lab: one class for each case that callers treat differently. Every message names the offender and
# the remedy.

require "larder/cli/errors"

module Larder
  module Lab
    UsageError = CLI::UsageError

    # Base class of every error the lab raises itself.
    class Error < StandardError; end

    # A contender cannot be had on this machine: a gem or a server is missing. Its row says why; the run goes on.
    class Unavailable < Error; end

    # A contender broke the rules (a wrong value, a dead process). Its row is invalid; the run goes on.
    class Invalid < Error; end

    # The words of a SystemCallError, without Ruby's function and the path, which the message around them names.
    def self.reason(error) = error.message.sub(/ @ .*/, "")
  end
end
