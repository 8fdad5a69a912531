# frozen_string_literal: true

# Parses the options of commands that visit contenders one by one, without rounds of calls: how much room each gets.

require_relative "contender_options"
require_relative "../units"

module Larder
  module Lab
    module Commands
      # For classes with the constants BANNER, FOOTER and SIZES (the defaults of --size: :usual and :quick), which may
      # add options of their own by `own_options(options)`.
      module VisitOptions
        include CommandLine
        include ContenderOptions

        # The least that every store takes.
        LEAST = 8 * 1024 * 1024

        # @return [Boolean]
        def quick?
          @quick == true
        end

        # @return [Integer] bytes of room that a store gets
        def size
          @size || self.class::SIZES.fetch(quick? ? :quick : :usual)
        end

        # @return [String, nil] where stores keep their files
        attr_reader :directory

        # @return [String] the contenders
        def list
          ["Contenders (--only, --except):", *listed(Contenders), "",
           "#{ContenderOptions::ON_REQUEST} takes part only where it is named."].join("\n")
        end

        private

        # Overridden by those that have more.
        def own_options(_options); end

        def understood
          load_extensions
          contenders unless list?
          return if size >= LEAST

          raise UsageError, "--size must be 8MiB or more: there are stores that take no less"
        end

        def parser
          @parser ||= explained(self.class::BANNER, self.class::FOOTER) do |options|
            size_options(options)
            options.separator("\nWhat:")
            choice_options(options)
            server_options(options)
          end
        end

        def size_options(options)
          options.separator("\nHow much:")
          options.on("--quick", "a rough result in half a minute") { @quick = true }
          options.on("--size BYTES", "size of each store, such as 64MiB", size_default) do |text|
            @size = Units.size(text, "--size")
          end
          own_options(options)
        end

        def size_default
          usual, quick = self.class::SIZES.values_at(:usual, :quick).map { |bytes| bytes / (1024 * 1024) }
          "(default #{usual}MiB, quick #{quick}MiB)"
        end

        def choice_options(options)
          contender_options(options)
          seed_option(options, "seed of random numbers, to repeat a run")
          extension_options(options)
          options.on("--list", "list the contenders") { @list = true }
        end
      end
    end
  end
end
