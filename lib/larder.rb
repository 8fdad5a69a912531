# frozen_string_literal: true

# Loads the byte cache: Larder::Cache, its errors and its version. The Rails store is loaded by ActiveSupport when
# `:larder_store` is configured.

require "larder/version"
require "larder/errors"
require "larder/options"
require "larder/larder"
require "larder/cache"

# A cache in one file, shared by all processes of a machine.
module Larder
end
