# frozen_string_literal: true

# Fetches the tests of sessions that gems of Rack and Dalli bring: once, outside the checkout. Later gems of them, and
# those of rack-session, have no tests.
#
# Run as a program: ruby rakelib/house/gem_tests.rb

require "digest"
require "rubygems/package"
require_relative "fetched"

module House
  # Where the tests of Rack and Dalli are.
  module GemTests
    # Name, version, SHA-256 of the gem: the last ones that have their tests
    GEMS = [
      ["rack", "2.0.9.4", "65880c6e479c4a8e7949838df831261bd215eed2b99a1c7574834acb13963025"],
      ["dalli", "2.7.4", "acdf155946cda8eb55edb9af7c44888dc8b726930f157729ffa67f5bc2fc8a7b"]
    ].freeze

    # Their names in a gem.
    FILES = "test/*session*.rb"

    FETCHED = Fetched.new("session-tests-of-gems", made_of: [GEMS, FILES].join("\n"))
    private_constant :FETCHED

    module_function

    # @return [String] their directory, with one for each gem, whether they are there or not
    def directory
      FETCHED.directory
    end

    # @return [String] the directory
    def fetch
      FETCHED.fetch { |partial| download(partial) }
    end

    # By Bundler, which asks for these two gems alone; `gem fetch` reads the list of all gems.
    def download(into)
      bundle = File.join(into, "bundle")
      gemfile = File.join(into, "Gemfile")
      gems = GEMS.map { |name, version, _| "gem #{name.inspect}, #{version.inspect}" }
      File.write(gemfile, ["source 'https://rubygems.org'", *gems].join("\n"))
      variables = Environment.variables(gemfile).merge("BUNDLE_PATH" => bundle, "BUNDLE_WITHOUT" => nil)
      system(variables, "bundle", "install", "--quiet") || abort("gem_tests: could not fetch #{gems.join(" and ")}")
      GEMS.each { |name, version, digest| unpack(bundle, "#{name}-#{version}", digest, File.join(into, name)) }
      FileUtils.rm_rf([bundle, gemfile, "#{gemfile}.lock"])
      puts "tests of sessions of #{GEMS.map { |gem| gem.first(2).join(" ") }.join(" and ")} are in #{directory}"
    end
    private_class_method :download

    def unpack(bundle, gem, digest, into)
      path = Dir[File.join(bundle, "**/cache/#{gem}.gem")].first
      found = Digest::SHA256.file(path).hexdigest
      abort "gem_tests: #{gem} has the SHA-256 #{found}, not #{digest}" unless found == digest

      Gem::Package.new(path).extract_files(into, FILES)
    end
    private_class_method :unpack
  end
end

House::GemTests.fetch if $PROGRAM_NAME == __FILE__
