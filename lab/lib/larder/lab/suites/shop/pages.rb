# frozen_string_literal: true

require "action_controller"
require "action_view"
require "rack"
require "rack/mock"
require_relative "catalog"

module Larder
  module Lab
    module Suites
      module Shop
        # Pages of products, as a Rails application has them: a controller behind the middleware of production, with
        # fragments of a cache store, and with the store's local cache in each request. Loaded in worker processes, or
        # before they are forked.
        class Pages < ActionController::Base
          prepend_view_path File.expand_path("views", __dir__)
          self.perform_caching = true

          # The middleware of a new Rails application in production that works without the application.
          MIDDLEWARE = [Rack::Runtime, Rack::MethodOverride, [ActionDispatch::RequestId, { header: "X-Request-Id" }],
                        ActionDispatch::RemoteIp, ActionDispatch::Callbacks, ActionDispatch::Cookies,
                        [ActionDispatch::Session::CookieStore, { key: "_shop" }], ActionDispatch::Flash,
                        ActionDispatch::ContentSecurityPolicy::Middleware,
                        ActionDispatch::PermissionsPolicy::Middleware, Rack::Head, Rack::ConditionalGet,
                        Rack::ETag, Rack::TempfileReaper].freeze

          class << self
            # Products of the page `computed`, and fragments that this process has computed for it.
            attr_accessor :products, :computations
          end
          self.products = []
          self.computations = 0

          helper do
            def compute
              Pages.computations += 1
              sleep 0.002 # as if it waited for its queries
            end
          end

          # An application with one page, for Rack.
          def self.application(page, store)
            self.cache_store = store
            ActionView::PartialRenderer.collection_cache = store
            stack = MIDDLEWARE.reverse.reduce(action(page)) do |app, (middleware, options)|
              middleware.new(app, **options.to_h)
            end
            store.respond_to?(:middleware) ? store.middleware.new(stack) : stack
          end

          # Renders each page without a cache, so that its templates are compiled.
          def self.compile
            self.perform_caching = false
            action_methods.each { |page| get(application(page, ActiveSupport::Cache::NullStore.new)) }
          ensure
            self.perform_caching = true
          end

          # The HTML of its page.
          def self.get(application)
            body = application.call(Rack::MockRequest.env_for("/", "HTTP_HOST" => "shop.example")).last
            body.each.to_a.join
          ensure
            body.close if body.respond_to?(:close)
          end

          # A page of ten fragments, each read by itself; an index page of 50, read together; and a page whose fragments
          # are computed if the cache has not got them.
          def ten = @products = Catalog::PRODUCTS.first(10)
          def index = @products = Catalog::PRODUCTS.first(50)
          def computed = @products = Pages.products

          # Templates belong to no application with routes.
          def self.controller_path = "shop"
        end
      end
    end
  end
end
