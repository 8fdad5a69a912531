# frozen_string_literal: true

# What Puma runs.

require_relative "config/environment"

run Rails.application
