# frozen_string_literal: true

# Loads the lab's command. The stores themselves are loaded only in worker processes.

require_relative "lab/version"
require_relative "lab/errors"
require_relative "lab/contenders"
require_relative "lab/servers"
require_relative "lab/reports"
require_relative "lab/progress"
require_relative "lab/cli"
