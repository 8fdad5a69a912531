# frozen_string_literal: true

# Fetches Rails' own tests of cache stores, of the source package of a Debian release: once, outside the checkout. Gems
# do not have them.
#
# Run as a program: ruby rakelib/house/rails_tests.rb

require "fileutils"
require_relative "debian"
require_relative "environment"

module House
  # Where Rails' tests are.
  module RailsTests
    RELEASE = "trixie"
    PACKAGE = "rails"
    RAILS = "7.2" # what the release has

    # The tests, and what they require that is in no gem.
    FILES = ["activesupport/test/abstract_unit.rb", "activesupport/test/cache/behaviors*",
             "activesupport/lib/active_support/testing/*", "tools/test_common.rb"].freeze

    module_function

    # @return [String] their directory, whether they are there or not
    def directory
      File.join(Environment.cache_directory, "#{PACKAGE}-tests-#{RELEASE}")
    end

    # @return [String, nil] why they can neither be found nor fetched (nil: they can)
    def missing
      Debian.no_sources unless File.directory?(directory)
    end

    # Made beside its place and renamed, so that an interrupted download is never taken for whole.
    #
    # @return [String] their directory
    def fetch
      FileUtils.mkdir_p(Environment.cache_directory)
      File.open("#{directory}.lock", File::RDWR | File::CREAT, 0o600) do |lock|
        lock.flock(File::LOCK_EX)
        download unless File.directory?(directory)
      end
      directory
    end

    def download
      partial = "#{directory}.partial"
      FileUtils.rm_rf(partial)
      Debian.fetch_source(RELEASE, PACKAGE, into: partial, patterns: FILES) ||
        abort("rails_tests: could not fetch the source package #{PACKAGE} of Debian #{RELEASE} from #{Debian.mirror}")
      version = File.basename(Dir[File.join(partial, "*.orig.tar.*")].first)[/_(.+)\.orig/, 1]
      FileUtils.rm_rf(Dir[File.join(partial, "{*.tar.*,*.bin,lists,archives}")])
      puts "Rails' tests of #{version}, from Debian #{RELEASE}, are in #{directory}"
      File.rename(partial, directory)
    end
    private_class_method :download
  end
end

House::RailsTests.fetch if $PROGRAM_NAME == __FILE__
