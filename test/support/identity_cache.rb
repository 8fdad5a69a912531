# frozen_string_literal: true

# The gem IdentityCache, outside of a Rails application. It warns that it works without a gem of hashes.

require "active_record"
require "rails/railtie"

begin
  output, $stderr = $stderr, StringIO.new
  require "identity_cache"
ensure
  $stderr = output
end
