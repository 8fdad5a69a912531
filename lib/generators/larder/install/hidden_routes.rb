# frozen_string_literal: true

# Finds the routes of an application that a mount before them would hide.

module Larder
  module Generators
    # @api private
    module HiddenRoutes
      # @param application [Rails::Application]
      # @param path [String] of the mount, as "/larder"
      # @return [Array<String>] each route with that path, or with one below it, and where it is if that is known
      def self.at(path, application)
        application.reload_routes_unless_loaded if application.respond_to?(:reload_routes_unless_loaded)
        below = %r{\A#{Regexp.escape(path)}(?:[/(.]|\z)}
        application.routes.routes.select { |route| route.path.spec.to_s.match?(below) }.map { |route| text(route) }
      end

      def self.text(route)
        place = route.source_location if route.respond_to?(:source_location)
        [route.verb, route.path.spec.to_s.delete_suffix("(.:format)"), *("(#{place})" if place)]
          .reject(&:empty?).join(" ")
      end
      private_class_method :text
    end
  end
end
