# frozen_string_literal: true

Rails.application.routes.draw do
  resources(:categories, only: [:index, :show]) { member { [:busy, :tagged].each { |page| get page } } }
  get "limited", to: "limited#index"
  get "figures", to: "figures#index"
  resource :sign_in, only: [:show, :create, :destroy]
end
