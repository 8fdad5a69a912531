# frozen_string_literal: true

require_relative "../contender_declaration"
require_relative "../contenders/own_place"
require_relative "population"

module Larder
  module Lab
    module Sessions
      # The base of the rows of both comparisons: how each is opened, with its sessions loaded. A subclass has
      # `connect`, and `load` its sessions. The command itself reads the class methods; instances live in worker
      # processes.
      class Row
        include ContenderDeclaration

        # Sessions that are loaded first, as published; how many requests or questions are about; how many begin at once
        # where a store can do many together.
        SESSIONS = 10_000
        POPULAR = 1000
        TOGETHER = 1000
        SEED = 1

        # It has the directory `dir`. Its server listens at `endpoint`, and the application's database at `companion`.
        def initialize(dir:, endpoint: nil, companion: nil, **)
          @dir = dir
          @endpoint = endpoint
          @companion = companion
        end

        # Loads the sessions.
        def open
          activate_gems
          connect
          load
          self
        rescue LoadError => error
          raise Unavailable, "its gems are not all there: lab/gemfiles/#{self.class.bundle}.gemfile names them, and " \
                             "bin/lab compiles larder (#{error.message})"
        end

        # Sessions stay between blocks.
        def clear; end

        private

        attr_reader :dir, :endpoint

        # In a server of the user's nothing stays for ever, and nobody's keys are met.
        def apart? = endpoint && !endpoint["private"]

        # Has the lab's schema or database.
        # @return [String] its name
        def own_place(type) = type.new(endpoint, shown(endpoint["url"])).settle

        def own_schema
          require "pg"
          { adapter: "postgresql", url: endpoint["url"], schema_search_path: own_place(Contenders::OwnSchema) }
        end

        def no_answer(error) = Unavailable.new("its server does not answer: #{error.message.lines.first.to_s.strip}")
      end
    end
  end
end
