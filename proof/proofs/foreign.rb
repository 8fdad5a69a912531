# frozen_string_literal: true

require_relative "../support/base"
require_relative "../foreign/catalogue"
require_relative "../foreign/disk"

module Proof
  # Runs applications that others wrote on Larder and on their own stores, and compares tests and pages.
  class ForeignApplications < Base
    NAME = "foreign"
    TITLE = "Applications that others wrote work on Larder as on their own stores"
    HELP = "bin/foreign: the tests and the pages of applications that others wrote, on Larder and on their own " \
           "stores, through deploys, kills and a full disk (10 minutes each)"
    MINUTES = 10

    # @return [String, nil]
    def missing
      return "its quick form would take minutes; leave out --quick" if quick
      return "set #{::Foreign::APPLICATIONS.keys.map { |name| variable(name) }.join(" or ")}" if named.empty?

      ::Foreign::Disk.missing
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      named.each do |name|
        run(report, ["ruby", "bin/foreign", name, "--counts", "--minutes", (minutes || MINUTES).to_s], log: name)
      end
    end

    private

    def named
      ::Foreign::APPLICATIONS.keys.reject { |name| ENV.fetch(variable(name), "").empty? }
    end

    def variable(name)
      "LARDER_FOREIGN_#{name.upcase}"
    end
  end
end
