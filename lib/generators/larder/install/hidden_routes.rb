# frozen_string_literal: true

# Finds the routes of an application that a mount before them would hide, and those that hide a mount after them.

module Larder
  module Generators
    # @api private
    module HiddenRoutes
      # @param application [Rails::Application]
      # @param path [String] of the mount, as "/larder"
      # @return [Array<String>] each route with that path, or with one below it, and where it is if that is known
      def self.at(path, application)
        below = %r{\A#{Regexp.escape(path)}(?:[/(.]|\z)}
        routes(application).select { |route| route.path.spec.to_s.match?(below) }.map { |route| text(route) }
      end

      # @param name [String] of the class that is mounted
      # @param application [Rails::Application]
      # @return [Hash{String=>Array<String>}] by the path of each mount that is hidden, the routes before it that answer
      #   requests to it, such as a catch-all. Another mount before it is none: it passes on the paths that it lacks
      def self.before(name, application)
        all = routes(application)
        found = all.each_index.select { |number| mounted?(all[number], name) }.to_h do |number|
          path = all[number].path.spec.to_s
          [path, all.first(number).select { |route| answers?(route, path) }.map { |route| text(route) }]
        end
        found.reject { |_, texts| texts.empty? }
      end

      def self.routes(application)
        application.reload_routes_unless_loaded if application.respond_to?(:reload_routes_unless_loaded)
        application.routes.routes.to_a
      end

      def self.mounted?(route, name)
        app = route.app.app
        [app.respond_to?(:name) && app.name, app.class.name].include?(name)
      end

      def self.answers?(route, path)
        route.path.anchored && ["", "GET"].include?(route.verb) && route.path.match?(path)
      end

      def self.text(route)
        place = route.source_location if route.respond_to?(:source_location)
        [route.verb, route.path.spec.to_s.delete_suffix("(.:format)"), *("(#{place})" if place)]
          .reject(&:empty?).join(" ")
      end
      private_class_method :routes, :mounted?, :answers?, :text
    end
  end
end
