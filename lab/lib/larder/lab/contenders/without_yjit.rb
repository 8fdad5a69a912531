# frozen_string_literal: true

require_relative "../yjit"

module Larder
  module Lab
    module Contenders
      # Rows of contenders whose processes leave YJIT off, to compare with the same contenders with YJIT. Suites of
      # blocks measure them; other commands run all of their processes alike.
      module WithoutYjit
        # The contenders that have such a row: a call that is C, one that is Ruby, and one that waits for a server.
        NAMES = %w[larder memory redis].freeze

        # The rows of a suite. On a Ruby that cannot turn YJIT on only one of them takes part, and says so.
        # @return [Array<String>]
        def self.rows = (Yjit.can? ? NAMES : NAMES.first(1)).map { |name| "#{name}-without-yjit" }

        # Refuses a process in which YJIT is not off by choice.
        # @return [self]
        # @raise [Unavailable] if it makes no difference to other rows
        def open
          raise Unavailable, "this Ruby cannot turn YJIT on, so all rows are without it" unless Yjit.can?
          raise Unavailable, "YJIT is on in every process (by RUBYOPT, RUBY_YJIT_ENABLE or the command)" if Yjit.on?

          super
        end

        NAMES.each do |name|
          Contenders.fetch(name).row("#{name}-without-yjit", "#{name} in a process without YJIT") do
            prepend WithoutYjit
            facts[:yjit?] = false
            only_on_request
          end
        end
      end
    end
  end
end
