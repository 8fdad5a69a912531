# frozen_string_literal: true

# The list of workloads. A new one is one file in workloads/ and one line at the end of this file.

require "larder/cli/registry"

module Larder
  module Lab
    # The shapes of work, by the names users type, in the order in which they run.
    module Workloads
      extend CLI::Registry
      holds "workload"
    end
  end
end

require_relative "workload"
require_relative "workloads/pages"
require_relative "workloads/fragments"
require_relative "workloads/objects"
require_relative "workloads/strings"
require_relative "workloads/collections"
require_relative "workloads/keys"
require_relative "workloads/one_thread"
require_relative "workloads/threads_as_published"
require_relative "workloads/threads_disjoint"
require_relative "workloads/threads_shared"
require_relative "workloads/write"
require_relative "workloads/subscriber"
require_relative "workloads/read_delete"
require_relative "workloads/read_multi"
require_relative "workloads/fetch_multi"
require_relative "workloads/hashes"
require_relative "workloads/large"
