# frozen_string_literal: true

module Larder
  # The measuring bench of Larder: everything behind the command `larder-lab`.
  module Lab
    # Version of the gem larder-lab.
    VERSION = "0.1.0"
  end
end
