# frozen_string_literal: true

# The list of applications. A new one is a class in applications/ and its name here.

require_relative "applications/redmine"
require_relative "applications/lobsters"

module Foreign
  # name on the command line => class
  APPLICATIONS = [Redmine, Lobsters].to_h { |one| [one::NAME, one] }.freeze
end
