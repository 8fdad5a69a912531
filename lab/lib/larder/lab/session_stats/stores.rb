# frozen_string_literal: true

# The list of stores that are asked about sessions. A new one is one file in stores/ and one line at the end of this
# file.

require "larder/cli/registry"
require_relative "../sessions/stores"

module Larder
  module Lab
    module SessionStats
      # Those that can take part, by the names users type. Each is a session store of {Sessions::Stores} that also
      # answers {Stores::LarderStore#take}, `load`, `weigh`, `questions`, `noting` and `leave`.
      module Stores
        extend CLI::Registry
        holds "contender"

        # For classes of stores.
        module Listed
          private

          def registry
            Stores
          end
        end
      end
    end
  end
end

require_relative "stores/larder"
require_relative "stores/mariadb"
require_relative "stores/postgresql"
