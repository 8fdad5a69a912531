# frozen_string_literal: true

require_relative "suite"
require_relative "../suite_report/machines_chapter"

module Larder
  module Lab
    module Commands
      # `larder-lab machines`: Larder in front of a store that several machines share, near and far.
      class Machines < Suite
        NAME = "machines"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "Larder in front of a store that machines share: times near and far, age of answers"
        # The suites that it runs.
        SUITES = %w[machines].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab machines [options]

          Measures a store that several machines share: alone, with Larder in front of it
          (remote: of :larder_store), and with a backplane, which tells the machines of
          changes. A proxy in front of a private Redis adds a short or a long round trip.
          Processes with a file each stand for machines.

          The report has the time of each call; the share of reads that the file answers
          while another machine changes values, and their times; and how old answers are
          after a change on another machine. A row with an answer that is older than it
          may be is invalid. Without a backplane copies are used for 500 ms here.
        TEXT

        private

        def chapter_class
          SuiteReport::MachinesChapter
        end
      end
    end
  end
end
