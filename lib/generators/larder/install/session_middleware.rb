# frozen_string_literal: true

# Finds out whether an application with `config.api_only = true` has the middleware of its sessions.

module Larder
  module Generators
    # Sessions that such an application configures have no effect without their middleware.
    # @api private
    class SessionMiddleware
      # The lines that add it.
      LINES = ["config.middleware.use ActionDispatch::Cookies",
               "config.middleware.use config.session_store, config.session_options"].freeze
      # A line that has a middleware of sessions, and one that has Larder's.
      PRESENT = /^[^#\n]*\bmiddleware\.\w+\b[^#\n]*(?:\bconfig\.session_store\b|\bSession::)/
      LARDERS = /\bconfig\.session_store\b|LarderStore/
      private_constant :LINES, :PRESENT, :LARDERS

      # @param texts [Hash{String=>String}] texts of the configuration by their files
      def initialize(texts)
        @present = texts.flat_map do |file, text|
          text.lines.each_with_index.select { |line, _| line.match?(PRESENT) }
              .map { |line, index| ["#{file}:#{index + 1}", line] }
        end
      end

      # @return [Boolean]
      def larders?
        @present.any? { |_, line| line.match?(LARDERS) }
      end

      # @return [Array<String>] places of others, as "config/application.rb:5"
      def places
        @present.map(&:first)
      end

      # @param receiver [String, nil] of `config` in the file
      # @return [Array<String>] the lines to put in, after that of `config.session_store`
      def self.lines(receiver)
        LINES.map { |line| line.gsub(/\bconfig\./, "#{receiver}config.") }
      end
    end
  end
end
