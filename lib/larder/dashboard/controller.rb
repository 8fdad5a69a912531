# frozen_string_literal: true

# Serves a dashboard behind a controller of the application, whose callbacks decide who may see it.

module Larder
  class Dashboard
    # A Rack application that runs another one as the action of a controller.
    # @api private
    class Controller
      # In the environment: the paths of the mount and below it, and the dashboard.
      PATHS = "larder.dashboard.paths"
      APPLICATION = "larder.dashboard.application"
      private_constant :PATHS, :APPLICATION

      # The action of the controller.
      module Action
        # Answers with what the dashboard does.
        #
        # @return [void]
        def larder_dashboard
          # The environment of the callbacks, which may have read the form.
          status, headers, body = request.env.fetch(APPLICATION).call(request.env.merge(request.env.fetch(PATHS)))
          self.status = status
          headers.each { |name, text| response.set_header(name, text) }
          response.headers.delete("content-length")
          self.response_body = body
        end
      end

      # @param name [String] of the controller
      # @param application [#call]
      def initialize(name, application)
        @name = name
        @application = application
      end

      # @param env [Hash] of Rack
      # @return [Array(Integer, Hash, #each)]
      # @raise [ArgumentError] the controller is not there, or is not one
      def call(env)
        outer = outside(env)
        outer[PATHS] = env.slice("SCRIPT_NAME", "PATH_INFO")
        outer[APPLICATION] = @application
        controller.action(:larder_dashboard).call(outer)
      end

      private

      # As the application sees the request: paths of its own routes do not begin with that of the mount.
      def outside(env)
        routes = env["action_dispatch.routes"]
        before = (env["ROUTES_#{routes.object_id}_SCRIPT_NAME"] if routes).to_s
        inside = env["SCRIPT_NAME"].delete_prefix(before)
        env.merge("SCRIPT_NAME" => before, "PATH_INFO" => "#{inside}#{env["PATH_INFO"]}")
      end

      # Made again where the application was loaded again. The forms of the dashboard have a token of their own.
      def controller
        base = ActiveSupport::Inflector.safe_constantize(@name)
        unless base.respond_to?(:action)
          raise ::ArgumentError, "base_controller: #{@name.inspect} of Larder::Dashboard names no controller"
        end
        return @controller if @controller&.superclass.equal?(base)

        @controller = Class.new(base) do
          include Action

          # For callbacks and the log, which name the controller.
          define_singleton_method(:name) { "Larder::DashboardController" }
          skip_forgery_protection if respond_to?(:skip_forgery_protection)
        end
      end
    end
  end
end
