# frozen_string_literal: true

# Loaded by every test of the lab: ActiveSupport's test case, and the helpers in support/.

require "active_support"
require "active_support/test_case"
require "minitest/autorun"
require "larder/lab"
require_relative "../../test/support/slow_test"
require "support/lab_helper"
require "support/sample_document"
require "support/simulated_turns"
require "support/simulated_runs"
require "support/advice_runs"

# A shell has what it runs in the background ignore interrupts, and nohup has it ignore hangups. Both would be passed on
# to every process under test.
["INT", "HUP"].each { |signal| trap(signal, "DEFAULT") }
