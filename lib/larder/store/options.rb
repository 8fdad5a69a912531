# frozen_string_literal: true

# Checks the options of the store and of its calls by the table of options (options/table.rb).

require "larder/remote/addresses"
require "larder/store/options/table"

module Larder
  module Store
    # A wrong value is an ArgumentError that names the option. An unknown name is logged once, see UnknownOptions.
    module Options
      ALIASES = ActiveSupport::Cache::OPTION_ALIASES.values.flatten.freeze
      # Place => name => Type.
      TYPES = %i[store call].to_h do |place|
        [place, TABLE.select { |_, option| option.places.include?(place) }.transform_values(&:type).freeze]
      end.freeze
      private_constant :ALIASES, :TYPES

      class << self
        # Checks the types of known options.
        #
        # @param options [Hash]
        # @param place [Symbol] :store or :call
        # @yieldparam name [Object] of an option that has no effect there
        # @raise [ArgumentError] names the option, its value and what it takes
        def check(options, place)
          types = TYPES[place]
          options.each do |name, value|
            type = types[name]
            next yield(name) unless type

            refuse(name, value, type) unless type[place].call(value)
          end
        end

        # @return [Array<Symbol>] options of applications that have an effect there
        def names(place)
          TYPES.fetch(place).keys - with(:internal)
        end

        # @param trait [Symbol] see Option
        # @return [Array<Symbol>] the options that have it
        def with(trait)
          TABLE.each_value.select { |option| option.traits.include?(trait) }.map(&:name).freeze
        end

        # @return [Object, nil] the value of an option that was not given
        def default(name)
          TABLE.fetch(name).default
        end

        # @return [Hash{Symbol=>Symbol}] names that other libraries have, with the option that is meant
        def synonyms
          TABLE.each_value.flat_map { |option| option.synonyms.map { |name| [name, option.name] } }.to_h
        end

        # @return [Array<Array(Symbol, Symbol)>] each option of calls, with what C does with it
        def for_calls_in_c
          TYPES.fetch(:call).keys.map { |name| [name, TABLE.fetch(name).c] }
        end

        private

        def refuse(name, value, type)
          raise ::ArgumentError,
                "#{name.inspect} of LarderStore is #{Remote::Addresses.show(value)}; it takes #{type.words}"
        end
      end

      private

      # Store's, of checked options.
      def merged_options(call_options)
        check_call(call_options) if call_options
        super
      end

      def check_call(options)
        unless options.is_a?(Hash)
          raise ::ArgumentError, "options of LarderStore are #{options.inspect}; they are a Hash, as expires_in: 60"
        end

        Options.check(without_unused(options), :call) do |name|
          UnknownOptions.report(name, :call) unless merged?(options)
        end
      end

      # Rails takes the first alias if there is no :expires_in, and ignores the values of the others.
      def without_unused(options)
        return options unless options.key?(:expire_in) || options.key?(:expired_in)

        given = ALIASES.find { |name| options.key?(name) }
        options[:expires_in] ? options.except(*ALIASES) : options.except(:expires_in, *ALIASES.without(given))
      end

      # True if the options are a result of merged_options, which Rails passes to it again.
      def merged?(options)
        @options.all? { |name, _| options.key?(name) }
      end
    end
  end
end
