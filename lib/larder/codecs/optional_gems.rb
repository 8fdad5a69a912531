# frozen_string_literal: true

# Loads the gem of a codec when the codec is first used. None of these gems is a dependency of larder.

require "larder/bytes/errors"
require "larder/codecs/errors"

module Larder
  # @api private
  module Codecs
    # Requires a library of an optional gem.
    module OptionalGems
      module_function

      # @param library [String] as given to require
      # @param gem [String] its gem
      # @param who [String] whose it is, as in "compressor :zstd"
      # @param hint [String, nil] what to add if the gem cannot be installed
      # @return [void]
      # @raise [Larder::MissingGemError] the message says what to add to the Gemfile
      def need(library, gem:, who:, hint: nil)
        require library
      rescue ::LoadError => e
        raise MissingGemError, "#{who} needs the gem #{gem}: add `gem \"#{gem}\"` to the Gemfile" \
                               "#{"; #{hint}" if hint} (#{e.message})"
      end
    end
  end
end
