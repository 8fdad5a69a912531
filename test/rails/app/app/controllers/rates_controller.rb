# frozen_string_literal: true

# A value that is computed again while the old one is served, and whether that is done before the response.
class RatesController < ActionController::Base
  def index
    served = Rails.cache.fetch("rates", expires_in: 1.hour, stale_while_revalidate: 60) { "new" }
    Larder::Store::Refreshes.await(30)
    render plain: "#{served}, then #{Rails.cache.read("rates").inspect}"
  end
end
