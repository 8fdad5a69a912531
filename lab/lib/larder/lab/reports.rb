# frozen_string_literal: true

# The list of report formats. A new one is one file in reports/ and one line at the end of this file.

require "larder/cli/registry"

module Larder
  module Lab
    # Forms in which results can be given out. Each answers `#to_s`.
    module Reports
      extend CLI::Registry
      holds "report format"
    end
  end
end

require_relative "reports/table"
require_relative "reports/plain"
require_relative "reports/data"
require_relative "reports/csv"
require_relative "reports/markdown"
require_relative "reports/html"
