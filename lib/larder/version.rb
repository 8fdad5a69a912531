# frozen_string_literal: true

# The version of the gem, equal to LARDER_VERSION of engine/include/larder.h.

module Larder
  VERSION = "0.1.0"
end
