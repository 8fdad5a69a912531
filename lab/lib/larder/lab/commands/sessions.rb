# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab sessions`: the published comparison of session stores.
      class Sessions < Suite
        NAME = "sessions"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "the cost of sessions in Larder, SQL, memcached, Redis, files or cookies"
        # The suites that it runs.
        SUITES = %w[published-e].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab sessions [options]

          Requests the eight pages of the published comparison from a real application
          (examples/recipes), whose recipes and SQL sessions are in MariaDB, with its
          query cache off and on. Each store holds 10,000 sessions first. Two pages begin
          a session each time, the others read one. The session's part of a request is
          also measured alone: Rails' middleware around an endpoint that reads a value,
          changes one, or begins a session. Every answer is checked.
        TEXT
      end
    end
  end
end
