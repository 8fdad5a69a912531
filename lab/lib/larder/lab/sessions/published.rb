# frozen_string_literal: true

# The figures of the published comparison of session stores, to be shown beside one's own. None was measured by the
# lab.

module Larder
  module Lab
    module Sessions
      # SQL sessions (c1) and memcached sessions (c2), with the query cache of MySQL off and on.
      module Published
        SOURCE = "measured elsewhere: Rails on one machine, 10,000 sessions loaded first in both stores, " \
                 "1,000 requests a page, means without spread"
        # Requests that the seconds are of.
        REQUESTS = 1000
        # What its SQL and its memcached are here: the sessions of that time were written by hand-written SQL.
        SQL = { off: "sql-mariadb", on: "sql-mariadb-cached" }.freeze
        MEMCACHED = "memcached"

        # path => seconds of c1 and c2 without the query cache, and with it
        SECONDS = {
          "/empty/index" => { off: [1.233, 0.963], on: [1.268, 0.954] },
          "/welcome/index" => { off: [1.443, 1.151], on: [1.471, 1.138] },
          "/rezept/index" => { off: [1.529, 1.196], on: [1.560, 1.181] },
          "/rezept/myknzlpzl" => { off: [1.522, 1.190], on: [1.554, 1.177] },
          "/rezept/show/713" => { off: [4.149, 3.959], on: [3.509, 3.203] },
          "/rezept/cat/Hauptspeise" => { off: [9.481, 9.292], on: [4.317, 4.008] },
          "/rezept/cat/Hauptspeise?page=5" => { off: [9.844, 9.654], on: [4.412, 4.118] },
          "/rezept/letter/G" => { off: [5.424, 5.202], on: [4.312, 4.023] }
        }.freeze

        module_function

        # @param path [String]
        # @param cache [Symbol] :off or :on
        # @return [Float] c1/c2, to as many digits as were published
        def ratio(path, cache)
          SECONDS.fetch(path).fetch(cache).reduce(:/).round(2)
        end

        # @param path [String]
        # @return [Float] SQL sessions without the query cache by those with it
        def caching(path)
          SECONDS.fetch(path).values_at(:off, :on).map(&:first).reduce(:/).round(2)
        end
      end
    end
  end
end
