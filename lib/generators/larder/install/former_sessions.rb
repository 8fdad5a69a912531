# frozen_string_literal: true

# Finds the options in the former statements that configure sessions: which of them Larder's sessions take as they are,
# and which have to be left out.

require_relative "../../../larder/sessions/configuration"
require_relative "former_options"

module Larder
  module Generators
    # The options of former sessions, see FormerOptions.
    # @api private
    class FormerSessions
      # Options of the cookie, which mean the same for each store of Rack's sessions.
      KEPT = ["key", "path", "max_age", "tld_length", *Sessions::Configuration::COOKIE.map(&:to_s)].freeze

      # @param statements [Array<String>] each `config.session_store ...`, in the order in which they are loaded; those
      #   with Larder's sessions are not former
      def initialize(statements)
        @former = statements.grep_v(/larder_store|LarderStore/).map { |text| FormerOptions.new(text, "session_store") }
      end

      # @return [Boolean] true if there are former sessions
      def any?
        @former.any?
      end

      # @return [Boolean] true if the application has turned sessions off
      def disabled?
        @former.last&.store == ":disabled"
      end

      # @return [Hash{String=>String}] options that are kept; of several statements, only the name of the cookie in the
      #   last one, which is in force
      def kept
        return {} unless any?

        named = @former.last.named
        named.slice(*(named.keys & (@former.one? ? KEPT : ["key"])))
      end

      # @param carried [Array<String>] names of the options that are carried over
      # @return [Array<String>] the others: names as `servers:`, and texts without a name
      def left(carried = kept.keys)
        @former.flat_map { |one| [*(one.named.keys - carried).map { |name| "#{name}:" }, *one.others] }.uniq
      end
    end
  end
end
