# frozen_string_literal: true

# Loads the codecs for any ActiveSupport::Cache store: see Larder::Serializers and Larder::Compressors. Each codec and
# its gem is loaded when it is first used.

require "active_support"
require "active_support/cache"
require "larder/version"
require "larder/bytes/errors"
require "larder/larder"
require "larder/codecs/tree"

module Larder
  autoload :Coder, "larder/codecs/coder"

  # What serializers, compressors and dictionaries have in common.
  module Codecs
    autoload :Signature, "larder/codecs/signature" # and with it OpenSSL, for those who sign
  end
end

require "larder/codecs/errors"
require "larder/codecs/optional_gems"
require "larder/codecs/frame"
require "larder/codecs/registry"
require "larder/codecs/options"
require "larder/codecs/bounded"
require "larder/codecs/reading"
require "larder/codecs/serializer"
require "larder/codecs/compressor"
require "larder/codecs/serializers"
require "larder/codecs/compressors"
require "larder/codecs/serializers/native"
require "larder/codecs/cacheable"
