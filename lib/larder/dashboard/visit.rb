# frozen_string_literal: true

# One request of a dashboard: its parameters, and the paths of pages.

require_relative "assets"
require_relative "form_token"

module Larder
  class Dashboard
    # The objects that a page may use.
    # @api private
    class Visit
      # @return [Rack::Request]
      attr_reader :request
      # @return [Settings]
      attr_reader :settings
      # @return [Source]
      attr_reader :source
      # @return [Readings]
      attr_reader :readings
      # @return [FormToken]
      attr_reader :token

      # @param request [Rack::Request]
      # @param settings [Settings]
      # @param source [Source]
      # @param readings [Readings]
      def initialize(request, settings, source, readings)
        @request = request
        @settings = settings
        @source = source
        @readings = readings
        @token = FormToken.new(request, source)
      end

      # @return [Cache]
      # @raise [Problem]
      def cache
        @cache ||= source.cache
      end

      # @param name [String]
      # @return [String] of a parameter, in valid UTF-8; empty where there is none or it is not a text
      def param(name)
        given = params[name]
        given.is_a?(String) ? given.dup.force_encoding(Encoding::UTF_8).scrub : ""
      end

      # @return [Hash]
      # @raise [Problem] it cannot be read
      def params
        @params ||= request.post? ? request.POST : request.GET
      rescue StandardError => error # the classes differ between versions of Rack, and have no common one
        raise Problem.new("The request cannot be read", error.message, status: 400)
      end

      # @return [String] the page's path below the dashboard: "", "keys"
      def page
        request.path_info.delete_prefix("/").delete_suffix("/")
      end

      # @param page [String] as {page}
      # @param params [Hash{Symbol => Object}] those that are nil or empty are left out
      # @return [String]
      def path(page, **params)
        params = params.reject { |_, value| value.to_s.empty? }
        query = "?#{Rack::Utils.build_query(params.to_h { |name, value| [name.to_s, value.to_s] })}" if params.any?
        "#{root}/#{page}#{query}"
      end

      # @param name [String]
      # @return [String]
      def asset(name)
        path(Assets.path(name))
      end

      # @return [String] of the mount: "" or "/larder"
      def root
        request.script_name.chomp("/")
      end
    end
  end
end
