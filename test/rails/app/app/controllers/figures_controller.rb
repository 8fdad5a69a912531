# frozen_string_literal: true

class FiguresController < ActionController::Base
  def index
    figures = Rails.cache.fetch("figures", expires_in: 1.minute) { { "products" => Product.count } }
    render plain: "#{figures["products"]} products, #{Rails.cache.increment("views")} views"
  end
end
