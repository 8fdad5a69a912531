# frozen_string_literal: true

# The list of loads: ways of calling a store over time. A new one is one file in loads/ and one line at the end of
# this file. Worker processes run them; reports read how large they are.

require "larder/cli/registry"

module Larder
  module Lab
    # What {Loads::Worker} can do to a store, by the names that jobs have.
    module Loads
      extend CLI::Registry
      holds "load"
    end
  end
end

require_relative "loads/load"
require_relative "loads/scaling"
require_relative "loads/soak"
