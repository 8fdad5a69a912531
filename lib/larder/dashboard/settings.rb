# frozen_string_literal: true

# Checks the options of a dashboard.

require "pathname"
require_relative "../bytes/application"
require_relative "../web/access"

module Larder
  class Dashboard
    # The checked options of Dashboard.new.
    # @api private
    class Settings
      # `takes`: in the words of the message; `test`: whether a value is one of these.
      Option = Struct.new(:takes, :test)
      CALLABLE = ->(given) { given.respond_to?(:call) }
      SWITCH = ->(given) { [true, false].include?(given) }
      TABLE = {
        cache: Option.new("a LarderStore, a Larder::Cache or the path of a file",
                          lambda do |given|
                            if given.is_a?(String) || given.is_a?(Pathname)
                              next ::Larder::Application.objection(given.to_s).nil?
                            end

                            given.is_a?(Larder::Cache) || given.respond_to?(:fetch_multi)
                          end),
        base_controller: Option.new("the name of a controller, such as \"AdminController\"",
                                    ->(given) { given.is_a?(String) && given.match?(/\A[A-Z][\w:]*\z/) }),
        values: Option.new("true or false", SWITCH),
        read_only: Option.new("true or false", SWITCH),
        actor: Option.new("a block (->(request) { ... })", CALLABLE)
      }.freeze
      private_constant :Option, :CALLABLE, :SWITCH, :TABLE

      # @return [Object, nil] nil: Rails.cache
      attr_reader :cache
      # @return [Hash{Symbol => Object}] of Web::Access. A base controller decides as a route does
      attr_reader :access
      # @return [String, nil]
      attr_reader :base_controller
      # @return [#call, nil]
      attr_reader :actor

      # @param options [Hash]
      # @raise [ArgumentError] names the option, its value and what it takes
      def initialize(options)
        @access = options.slice(*Web::Access::OPTIONS)
        options.except(*Web::Access::OPTIONS).each { |name, given| check(name, given) }
        @cache, @base_controller, @actor = options.values_at(:cache, :base_controller, :actor)
        @access[:allow] ||= :route if @base_controller && !@access.key?(:allow)
        @values = options.fetch(:values, false) || false
        @read_only = options.fetch(:read_only, false) || false
        forbid_nil(options)
      end

      # @return [Boolean]
      def values?
        @values
      end

      # @return [Boolean]
      def read_only?
        @read_only
      end

      private

      def check(name, given)
        option = TABLE.fetch(name) do
          raise ::ArgumentError, "unknown option #{name.inspect} of Larder::Dashboard; known: " \
                                 "#{[*Web::Access::OPTIONS, *TABLE.keys].map(&:inspect).join(", ")}"
        end
        return if given.nil? || option.test.call(given)

        raise ::ArgumentError, "#{name.inspect} of Larder::Dashboard is #{given.inspect}; it takes #{option.takes}"
      end

      # An option that closes something, and is nil by mistake, as a constant of another environment, must not leave it
      # open.
      def forbid_nil(options)
        name = %i[base_controller read_only].find { |closing| options.key?(closing) && options[closing].nil? } or return

        raise ::ArgumentError, "#{name.inspect} of Larder::Dashboard is nil; it takes #{TABLE.fetch(name).takes}, or " \
                               "leave it out"
      end
    end
  end
end
