# frozen_string_literal: true

# Finds codecs by name and by the id of their frames: one table for each kind, one file for each codec, which is loaded
# when it is first used.

require "did_you_mean" unless defined?(DidYouMean) || ENV["RUBYOPT"].to_s.include?("--disable")

module Larder
  module Codecs
    # The names, ids and files of the codecs of one kind.
    class Registry
      # @param kind [String] as in "serializer"
      # @param home [Module] whose constants the codecs are
      # @param table [Hash{Symbol => Integer}] name to id
      def initialize(kind, home, table)
        @kind = kind
        @home = home
        @table = table.freeze
        @names = table.invert.freeze
        table.each_key { |name| home.autoload(constant(name), "larder/codecs/#{home.name[/\w+\z/].downcase}/#{name}") }
      end

      # @return [Array<Symbol>]
      def names
        @table.keys
      end

      # @param name [Symbol, String]
      # @return [Class]
      # @raise [ArgumentError] names those that there are
      def find(name)
        @home.const_get(constant(check(name)))
      end

      # @param name [Symbol, String]
      # @return [Symbol] the same
      # @raise [ArgumentError] names those that there are
      def check(name)
        key = name.respond_to?(:to_sym) ? name.to_sym : name
        @table.key?(key) ? key : raise(::ArgumentError, unknown(name))
      end

      # @param id [Integer] from a frame
      # @return [Symbol, nil]
      def name_of(id)
        @names[id]
      end

      # @param id [Integer] from a frame
      # @return [Class, nil]
      def with_id(id)
        name = @names[id]
        name && find(name)
      end

      # @return [Integer]
      def id_of(name)
        @table.fetch(name)
      end

      private

      # "lz4_flex" is Lz4Flex in lz4_flex.rb, below the file of its home.
      def constant(name)
        name.to_s.split("_").map(&:capitalize).join
      end

      def unknown(name)
        close = DidYouMean::SpellChecker.new(dictionary: names).correct(name.to_s).first if defined?(DidYouMean)
        "unknown #{@kind} #{name.inspect}#{"; did you mean #{close.inspect}?" if close}; " \
          "known: #{names.map(&:inspect).join(", ")}"
      end
    end
  end
end
