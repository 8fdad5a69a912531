# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # Larder through `config.cache_store = :larder_store`.
      class LarderStore < Contender
        named "larder", "Larder: one mapped file, shared by all processes (:larder_store)"

        private

        # Not `gem "larder"`: a checkout runs from its own lib directory, without an installed gem.
        def load_code
          require "active_support/cache/larder_store"
        rescue LoadError => error
          raise Unavailable, remedy(error)
        end

        def open_store
          lookup(:larder_store, File.join(dir, "cache.larder"), { size: size })
        end

        def remedy(error)
          missing = error.path.to_s
          if missing.end_with?("larder/larder")
            "the extension of larder is not compiled: run bin/lab, or bundle exec rake compile (#{error.message})"
          elsif missing.include?("larder")
            "the gem larder is missing: gem install larder"
          else
            "larder cannot be loaded: #{error.message}"
          end
        end
      end
    end
  end
end
