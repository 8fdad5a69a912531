# frozen_string_literal: true

# Makes a command of each suite that declares one.

require_relative "suite"

module Larder
  module Lab
    Suites.names.map { |name| Suites.fetch(name) }.select(&:command).each do |suite|
      Commands.register(suite.command.first, Commands::Suite.of(suite))
    end
  end
end
