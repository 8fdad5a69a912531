# frozen_string_literal: true

# Fetches Rails' own tests of cache stores and sessions, of the source package of a Debian release: once, outside the
# checkout. Gems do not have them.
#
# Run as a program: ruby rakelib/house/rails_tests.rb

require_relative "debian"
require_relative "fetched"

module House
  # Where Rails' tests are.
  module RailsTests
    RELEASE = "trixie"
    PACKAGE = "rails"
    RAILS = "7.2" # what the release has

    # The tests, and what they require that is in no gem.
    FILES = ["activesupport/test/abstract_unit.rb", "activesupport/test/cache/behaviors*",
             "activesupport/lib/active_support/testing/*", "tools/test_common.rb",
             "actionpack/test/abstract_unit.rb", "actionpack/test/dispatch/session/*",
             "actionpack/test/dispatch/request/session_test.rb", "actionpack/test/fixtures/helpers/*",
             "actionpack/test/fixtures/alternate_helpers/*", "actionpack/test/fixtures/session_autoload_test/*"].freeze

    FETCHED = Fetched.new("#{PACKAGE}-tests-#{RELEASE}", made_of: FILES.join("\n"))
    private_constant :FETCHED

    module_function

    # @return [String] their directory, whether they are there or not
    def directory
      FETCHED.directory
    end

    # @return [String, nil] why they can neither be found nor fetched (nil: they can)
    def missing
      Debian.no_sources unless FETCHED.there?
    end

    # @return [String] their directory
    def fetch
      FETCHED.fetch { |partial| download(partial) }
    end

    def download(into)
      Debian.fetch_source(RELEASE, PACKAGE, into: into, patterns: FILES) ||
        abort("rails_tests: could not fetch the source package #{PACKAGE} of Debian #{RELEASE} from #{Debian.mirror}")
      version = File.basename(Dir[File.join(into, "*.orig.tar.*")].first)[/_(.+)\.orig/, 1]
      FileUtils.rm_rf(Dir[File.join(into, "{*.tar.*,*.bin,lists,archives}")])
      puts "Rails' tests of #{version}, from Debian #{RELEASE}, are in #{directory}"
    end
    private_class_method :download
  end
end

House::RailsTests.fetch if $PROGRAM_NAME == __FILE__
