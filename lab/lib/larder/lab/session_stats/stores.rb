# frozen_string_literal: true

# The list of stores that are asked about sessions. A new one is one file in stores/ and one line at the end of this
# file.

require "larder/cli/registry"

module Larder
  module Lab
    module SessionStats
      # Those that can take part, by the names users type.
      module Stores
        extend CLI::Registry
        holds "contender"
      end
    end
  end
end

require_relative "row"
require_relative "stores/larder"
require_relative "stores/mariadb"
require_relative "stores/postgresql"
