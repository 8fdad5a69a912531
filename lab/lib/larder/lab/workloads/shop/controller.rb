# frozen_string_literal: true

require "action_controller"
require "action_view"
require "rack"
require "rack/mock"

module Larder
  module Lab
    module Workloads
      module Shop
        # Renders pages of fragments, as a Rails application does. Loaded in worker processes only.
        class Controller < ActionController::Base
          PRODUCTS = Array.new(50) { |id| Product.new(id) }.freeze
          FRAGMENT = Shop.html(2048)

          prepend_view_path File.expand_path("views", __dir__)
          self.perform_caching = true

          # @param store [ActiveSupport::Cache::Store] that all pages use from now on
          # @return [void]
          def self.use(store)
            self.cache_store = store
            ActionView::PartialRenderer.collection_cache = store
          end

          # Of those that a new Rails application has in production, all that work without the application.
          MIDDLEWARE = [Rack::Runtime, Rack::MethodOverride, [ActionDispatch::RequestId, { header: "X-Request-Id" }],
                        ActionDispatch::RemoteIp, ActionDispatch::Callbacks, ActionDispatch::Cookies,
                        [ActionDispatch::Session::CookieStore, { key: "_shop" }], ActionDispatch::Flash,
                        ActionDispatch::ContentSecurityPolicy::Middleware,
                        ActionDispatch::PermissionsPolicy::Middleware, Rack::Head, Rack::ConditionalGet,
                        Rack::ETag, Rack::TempfileReaper].freeze
          private_constant :MIDDLEWARE

          # @param page [Symbol] the name of an action
          # @return [#call] for Rack: the page behind the middleware
          def self.application(page)
            MIDDLEWARE.reverse.reduce(action(page)) do |app, (middleware, options)|
              middleware.new(app, **options.to_h)
            end
          end

          # @param application [#call]
          # @return [String] its HTML
          def self.get(application)
            body = application.call(Rack::MockRequest.env_for("/", "HTTP_HOST" => "shop.example")).last
            body.each.to_a.join
          ensure
            body.close if body.respond_to?(:close)
          end

          # A page of ten fragments, each read by itself.
          # @return [void]
          def ten
            @html = FRAGMENT
            @products = PRODUCTS.first(10)
            render "shop/ten"
          end

          # An index page of 50, read together.
          # @return [void]
          def index
            @html = FRAGMENT
            @products = PRODUCTS
            render "shop/index"
          end

          # Templates belong to no application with routes.
          def self.controller_path
            "shop"
          end
        end
      end
    end
  end
end
