# frozen_string_literal: true

# The pages. Those below /empty, /welcome and /rezept have the names and shapes of a published comparison of session
# stores, which the lab repeats on them.

require "larder/dashboard"
require "larder/metrics"

Rails.application.routes.draw do
  root "welcome#index"

  get "empty/index", to: "empty#index"
  get "welcome/index", to: "welcome#index"

  scope "rezept", controller: "rezept" do
    get "index", action: "index", as: :recipes
    get "show/:id", action: "show", as: :recipe, constraints: { id: /\d+/ }
    get "cat/:category", action: "category", as: :category
    get "letter/:letter", action: "letter", as: :letter
    get ":name", action: "by_name", as: :named_recipe, constraints: { name: /[a-z]+/ }
  end

  scope "rezept/show/:recipe_id", constraints: { recipe_id: /\d+/ } do
    resource :favourite, only: [:create, :destroy], as: :recipe_favourite
    resources :notes, only: [:create], as: :recipe_notes
  end

  resource :session, only: [:new, :create, :destroy]
  resource :account, only: [:show]
  resources :sign_ins, only: [:destroy], param: :handle, constraints: { handle: %r{[^/]+} } do
    delete :index, on: :collection, action: :clear
  end
  resources :favourites, only: [:index]

  get "recipes.css", to: Recipes.stylesheet, as: :stylesheet
  # The cache and the sessions in a browser, and the metrics of the cache. Only browsers on this machine may see them.
  if Recipes.cache_in_larder?
    allow = ->(request) { Recipes.own_machine?(request) }
    mount Larder::Dashboard.new(allow: allow, values: true) => "/larder"
    mount Larder::Metrics.new(allow: allow) => "/metrics"
  end

  get "*path", to: "errors#missing"
end
