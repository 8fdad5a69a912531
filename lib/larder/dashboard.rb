# frozen_string_literal: true

# The dashboard: a Rack application that looks into a cache. It is loaded only where an application requires it.

begin
  require "rack"
rescue LoadError
  raise LoadError, "larder/dashboard needs the gem rack: add it to the Gemfile, or leave out the dashboard"
end
require "active_support"
require "active_support/notifications"
require "larder"
require_relative "inspection"
require_relative "dashboard/settings"
require_relative "dashboard/controller"
require_relative "dashboard/application"

module Larder
  # Web pages about a cache: how well it does, what fills it, which keys it has. An application
  # mounts them. They can delete keys.
  #
  # Outside of development every request is answered with 404 until the application says who may see it, see {.allow}.
  # docs/guides/dashboard.md describes each option.
  #
  # @example In config/routes.rb
  #   # require "larder/dashboard"
  #   # mount Larder::Dashboard => "/larder"
  # @example In config.ru
  #   # map("/larder") { run Larder::Dashboard.new(cache: "cache.larder", password: ENV["LARDER_PASSWORD"]) }
  class Dashboard
    GUIDE = "docs/guides/dashboard.md"
    private_constant :GUIDE

    class << self
      # @api private
      # @return [#call, nil]
      attr_reader :rule

      # Says who may see the dashboards of this process. It holds in addition to what {#initialize} is given.
      #
      # @yieldparam request [ActionDispatch::Request, Rack::Request] the latter outside of Rails
      # @yieldreturn [Boolean] may its sender see the dashboard and, unless it has `read_only: true`, delete keys? A
      #   block that raises means no
      # @return [void]
      # @raise [ArgumentError] there is no block
      # @example
      #   Larder::Dashboard.allow { |request| request.env["warden"]&.user&.admin? }
      def allow(&block)
        raise ::ArgumentError, "Larder::Dashboard.allow needs a block: allow { |request| ... }" unless block

        @rule = block
      end

      # @param env [Hash] of Rack
      # @return [Array(Integer, Hash, #each)] a dashboard's without options
      def call(env)
        (@default ||= new).call(env)
      end
    end

    # @param options [Hash] none has to be given
    # @option options [ActiveSupport::Cache::LarderStore, Larder::Cache, String, Pathname, nil] :cache a store, a cache,
    #   or the path of a file; nil: Rails.cache
    # @option options [#call, :route] :allow as the block of {Dashboard.allow}; `:route`: a constraint around the mount
    #   has checked the request
    # @option options [String, nil] :password of HTTP basic authentication, with any user name; nil or empty: every
    #   request is refused
    # @option options [String, nil] :token of `Authorization: Bearer`; nil or empty: every request is refused
    # @option options [String] :base_controller the name of a controller whose before_action callbacks decide
    # @option options [Boolean] :values show the values of keys
    # @option options [Boolean] :read_only true: no key can be deleted, and no session ended
    # @option options [#call, nil] :actor gets the Rack::Request; its answer is in the events of deletions and of ended
    #   sessions
    # @raise [ArgumentError] an option is unknown or of the wrong type
    def initialize(**options)
      settings = Settings.new(options)
      @access = Web::Access.new("the dashboard", settings.access, guide: GUIDE, rule: -> { Dashboard.rule })
      application = Application.new(settings)
      name = settings.base_controller
      @inner = name ? Controller.new(name, application) : application
    end

    # @param env [Hash] of Rack
    # @return [Array(Integer, Hash, #each)]
    def call(env)
      case @access.refusal(env)
      when nil then @inner.call(env)
      when :hidden then Response.hidden
      else Response.unauthorized(@access.challenge)
      end
    end
  end
end
