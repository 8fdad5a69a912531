# frozen_string_literal: true

require "larder/cli/registry"
require_relative "bench/suite"

module Larder
  module Lab
    # The suites, by the names users type, and what they do in their blocks. A new one is one file in suites/ and its
    # name below, in the order in which suites are listed and run.
    # @api private
    module Suites
      extend CLI::Registry
      holds "suite"
    end
  end
end

%w[applications published_a calls replay features published_e session_questions tails scaling soak stampede capacity
   wire machines deploy published_b published_c published_d matrix].each { |name| require_relative "suites/#{name}" }
