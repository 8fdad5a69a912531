# frozen_string_literal: true

module Larder
  module Lab
    # Ruby's compiler YJIT. A Rails application turns it on where Ruby lets it, from Ruby 3.3 on, so each process of the
    # lab does: a store without an application would run without it, next to one that brings its own.
    # @api private
    module Yjit
      module_function

      # Does what a Rails application does, in the lab and in each of its workers.
      def enable
        RubyVM::YJIT.enable if can?
      end

      # @return [Boolean] whether this Ruby turns YJIT on while it runs, as from 3.3 on where it was built with it
      def can? = defined?(RubyVM::YJIT) ? RubyVM::YJIT.respond_to?(:enable) : false

      # @return [Integer] methods and blocks that this process has compiled
      def compiled = RubyVM::YJIT.runtime_stats[:compiled_iseq_count]

      def on? = (defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?) == true
    end
  end
end
