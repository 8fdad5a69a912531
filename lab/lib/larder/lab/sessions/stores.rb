# frozen_string_literal: true

# The list of session stores. A new one is one file in stores/ and one line at the end of this file.

require "larder/cli/registry"

module Larder
  module Lab
    # The comparison of session stores.
    module Sessions
      # Those that can take part, by the names users type.
      module Stores
        extend CLI::Registry
        holds "session store"
      end
    end
  end
end

require_relative "store"
require_relative "stores/larder"
require_relative "stores/mariadb"
require_relative "stores/postgresql"
require_relative "stores/memcached"
require_relative "stores/redis"
require_relative "stores/file"
require_relative "stores/cookie"
require_relative "stores/hash"
