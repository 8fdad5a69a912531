# frozen_string_literal: true

require_relative "mariadb"

module Larder
  module Lab
    module Servers
      # MariaDB with the query cache, which is off by default: answers to the same words are kept until a table is
      # written to. MySQL has none since its version 8.
      class MariadbQueryCache < Mariadb
        named "mariadb-query-cache", "MariaDB with its query cache on", binary: "mariadbd", port: 3306,
                                     remedy: "install it (Debian: bin/servers, or apt-get install " \
                                             "mariadb-server-core mariadb-client-core) or pass " \
                                             "--mariadb-query-cache-url"

        # @return [Array<String>]
        def arguments
          [*super, "--query-cache-type=ON", "--query-cache-size=64M"]
        end
      end
    end
  end
end
