# frozen_string_literal: true

Rails.application.routes.draw do
  resources(:categories, only: [:index, :show]) { member { [:busy, :tagged].each { |page| get page } } }
  get "limited", to: "limited#index"
  get "figures", to: "figures#index"
  get "rates", to: "rates#index"
  get "live_rates", to: "live_rates#index"
  resource :sign_in, only: [:show, :create, :destroy]
end
