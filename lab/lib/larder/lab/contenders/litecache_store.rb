# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # Litecache (gem litestack), with its own defaults: on disk, one connection, 128 MB.
      #
      # Only the store is loaded, not the suite: `require "litestack"` brings a railtie and an Active Record adapter
      # that fail on Rails 8. litestack 0.4 also excludes sqlite3 2, which Rails 8 and with it Solid Cache demand; hence
      # a bundle of its own.
      class LitecacheStore < Contender
        named "litecache", "Litecache on SQLite (gem litestack)", gems: { "litestack" => ">= 0.4.3" },
                                                                  bundle: "litecache"

        private

        def load_code
          ENV["LITESTACK_DATA_PATH"] = dir # litestack makes a directory there when it is loaded
          require "litestack/litecache"
          require "active_support/cache/litecache"
        rescue LoadError => error
          raise Unavailable, "litestack cannot be loaded: #{error.message}"
        end

        def open_store
          lookup(:litecache, { path: File.join(dir, "litecache.sqlite3"), size: (size unless size == SIZE) }.compact)
        end
      end
    end
  end
end
