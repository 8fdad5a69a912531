# frozen_string_literal: true

# Installs the newest Rails for this Ruby, tested or not. Lists the methods that the fast path replaces and that differ
# from the newest tested Rails, and runs Rails' own tests of cache stores. It informs people: bin/test lets it fail.
#
# Run as a program: ruby rakelib/house/newest_rails.rb

require "fileutils"
require "json"
require "open3"
require "tmpdir"
require_relative "environment"
require_relative "rails_tests"

module House
  # The newest Rails beside the tested one.
  class NewestRails
    # What Rails' tests require, as in ../../gemfiles/shared.rb, and no version of Rails.
    GEMFILE = <<~RUBY.freeze
      source "https://rubygems.org"
      gemspec name: "larder", path: #{ROOT.inspect}
      gem "activesupport"
      gem "dalli", "~> 4.3"
      gem "minitest", "~> 5.16"
      gem "msgpack", "~> 1.7"
      gem "redis", "~> 5.0"
    RUBY
    private_constant :GEMFILE

    # @return [Boolean] whether Rails' tests passed; they are not run where the newest Rails is the tested one
    def run
      Dir.mktmpdir("larder-newest-rails-") do |directory|
        gemfile = File.join(directory, "Gemfile")
        File.write(gemfile, GEMFILE)
        @newest = Environment.variables(gemfile).merge("BUNDLE_WITHOUT" => nil)
        system(@newest, "bundle", "install", "--quiet") || abort("newest_rails: could not install the newest Rails")
        tell(tested = replaced_methods(Environment.variables), newest = replaced_methods(@newest))
        tested == newest ? puts("1 passed, 0 failed") || true : passed?
      end
    end

    private

    # @return [Array(String, Hash)] which Rails, and the sources of its methods
    def replaced_methods(variables)
      output, error, status = Open3.capture3(variables, "ruby", "-rbundler/setup", "-Ilib",
                                             "rakelib/house/replaced_methods.rb", chdir: ROOT)
      status.success? ? JSON.parse(output).values_at("rails", "sources") : abort("newest_rails: #{error}")
    end

    def tell((tested, before), (newest, now))
      changed = before.keys.reject { |name| before[name] == now[name] }
      puts "@note #{newest} is the newest Rails for Ruby #{RUBY_VERSION}, #{tested} the one that tests run on.",
           "@note Of #{before.size} methods that the fast path replaces, #{changed.size} have changed there."
      changed.each { |name| puts "@note #{name}", difference(before[name], now[name]) }
    end

    def difference(before, now)
      Dir.mktmpdir do |directory|
        files = { "tested" => before, "newest" => now }.map do |name, text|
          File.join(directory, name).tap { |path| File.write(path, "#{text}\n") }
        end
        Open3.capture2("diff", "-U1", *files).first.lines.drop(3).map { |line| "    #{line}" }
      end
    end

    def passed?
      argv = ["ruby", "-w", "-rbundler/setup", "-Ilib", "test/rails/suites/run.rb", RailsTests.fetch]
      system(@newest.merge("LARDER_UNTESTED_RAILS" => "1"), *argv, chdir: ROOT)
    end
  end
end

exit House::NewestRails.new.run if $PROGRAM_NAME == __FILE__
