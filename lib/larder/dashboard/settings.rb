# frozen_string_literal: true

# Checks the options of a dashboard.

require "pathname"

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
        cache: Option.new("a LarderStore, a Larder::Cache or a path",
                          lambda do |given|
                            [String, Pathname, Larder::Cache].any? { |type| given.is_a?(type) } ||
                              given.respond_to?(:fetch_multi)
                          end),
        allow: Option.new("a block (->(request) { ... }) or :route",
                          ->(given) { given == :route || CALLABLE.call(given) }),
        password: Option.new("a String", ->(given) { given.is_a?(String) }),
        base_controller: Option.new("the name of a controller, such as \"AdminController\"",
                                    ->(given) { given.is_a?(String) && given.match?(/\A[A-Z][\w:]*\z/) }),
        values: Option.new("true or false", SWITCH),
        read_only: Option.new("true or false", SWITCH),
        actor: Option.new("a block (->(request) { ... })", CALLABLE)
      }.freeze
      private_constant :Option, :CALLABLE, :SWITCH, :TABLE

      # @return [Object, nil] nil: Rails.cache
      attr_reader :cache
      # @return [#call, :route, nil]
      attr_reader :allow
      # @return [String, nil] nil: none was given, or it is empty
      attr_reader :password
      # @return [String, nil]
      attr_reader :base_controller
      # @return [#call, nil]
      attr_reader :actor

      # @param options [Hash]
      # @raise [ArgumentError] names the option, its value and what it takes
      def initialize(options)
        options.each { |name, given| check(name, given) }
        @cache, @allow, @base_controller, @actor = options.values_at(:cache, :allow, :base_controller, :actor)
        @asks_password = options.key?(:password)
        @password = options[:password] unless options[:password].to_s.strip.empty?
        @values = options.fetch(:values, false) || false
        @read_only = options.fetch(:read_only, false) || false
        forbid_nil(options)
      end

      # @return [Boolean] was `password:` given, of whatever value?
      def asks_password?
        @asks_password
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
                                 "#{TABLE.keys.map(&:inspect).join(", ")}"
        end
        return if given.nil? || option.test.call(given)

        shown = name == :password ? "of #{given.class}" : given.inspect
        raise ::ArgumentError, "#{name.inspect} of Larder::Dashboard is #{shown}; it takes #{option.takes}"
      end

      # A rule that is nil by mistake, as a constant of another environment, must not mean that there is none.
      def forbid_nil(options)
        name = [:allow, :base_controller].find { |key| options.key?(key) && options[key].nil? }
        return unless name

        raise ::ArgumentError, "#{name.inspect} of Larder::Dashboard is nil; it takes #{TABLE.fetch(name).takes}, or " \
                               "leave it out"
      end
    end
  end
end
