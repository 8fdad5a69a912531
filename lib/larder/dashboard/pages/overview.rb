# frozen_string_literal: true

# The first page: is the cache healthy, does it help, what fills it.

module Larder
  class Dashboard
    module Pages
      # The figures of a cache on one page.
      class Overview < Page
        # @return [String]
        def title
          "Overview"
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          stats = cache.stats
          facts(html, [["Reads that hit", stats[:hit_ratio] ? Words.percent(stats[:hit_ratio]) : "none yet"],
                       ["Full", Words.percent(stats[:fullness])],
                       ["Items", Words.count(stats[:items])]])
        end
      end
    end
  end
end
