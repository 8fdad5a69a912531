# frozen_string_literal: true

# In place of the helper of Dalli's tests, which needs gems that nothing else here does: no server is started, for
# Larder needs none.

require "minitest/autorun"

class Minitest::Spec
  def memcached_persistent(_port) end
end
