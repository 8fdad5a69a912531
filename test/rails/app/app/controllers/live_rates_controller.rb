# frozen_string_literal: true

# The same in a thread that the request does not wait for.
class LiveRatesController < RatesController
  include ActionController::Live
end
