# frozen_string_literal: true

require_relative "errors"

module Larder
  module Lab
    # The Gemfiles of lab/gemfiles/, for workers whose gems cannot, or need not, be resolved together with the lab's
    # own. Only a checkout has them.
    # @api private
    module Gemfiles
      # The lab's own.
      LAB = File.expand_path("../../../Gemfile", __dir__)
      # Of the codecs.
      CODECS = "codecs"
      # Gemfiles of stores whose gems it has, too.
      IN_CODECS = [nil, "solid_cache"].freeze

      module_function

      # The name of the Gemfile of a row's processes: that of the suite, unless it lacks gems of the row.
      def of(suite, type) = IN_CODECS.include?(type.bundle) ? suite.bundle || type.bundle : type.bundle

      # Under the lab's own Gemfile some workers have one for themselves; under any other, that one is measured.
      #
      # Answers the path of a file of lab/gemfiles/; nil: that of this process. Raises Unavailable if its gems are not
      # installed.
      def path(name)
        return nil unless name && ENV["BUNDLE_GEMFILE"] == LAB

        file = File.join(File.dirname(LAB), "gemfiles", "#{name}.gemfile")
        return file if File.exist?("#{file}.lock")

        raise Unavailable, "its gems are not installed: bin/lab installs them, or says why it cannot"
      end
    end
  end
end
