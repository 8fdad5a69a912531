# frozen_string_literal: true

module Larder
  module Lab
    module Sessions
      module Stores
        # Rails' default: the session is its encrypted cookie, and nothing is kept.
        class CookieStore < Store
          named "cookie", "the cookie itself, encrypted (:cookie_store, Rails' default)"
          bundled_apart "sessions"

          # @return [Symbol]
          def name
            :cookie_store
          end

          # @return [Boolean]
          def keeps?
            false
          end
        end
      end
    end
  end
end
