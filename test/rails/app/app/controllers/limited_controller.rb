# frozen_string_literal: true

class LimitedController < ActionController::Base
  # Rails 7.2 has it.
  rate_limit to: 2, within: 1.minute if respond_to?(:rate_limit)

  def index
    render plain: "served"
  end
end
