# frozen_string_literal: true

require "test_helper"
require "larder/version"
require_relative "../../rakelib/house/environment"

module House
  # The version is said in the engine's header, in Ruby and in the changelog; they must agree.
  class VersionsTest < ActiveSupport::TestCase
    ROOT = File.expand_path("../..", __dir__)

    test "the header and the Ruby constant name the same version" do
      assert_equal header_version, Larder::VERSION
    end

    test "the gemspec has that version" do
      assert_equal header_version, Gem::Specification.load(File.join(ROOT, "larder.gemspec")).version.to_s
    end

    test "both gems have the same version" do
      lab = Dir.chdir(File.join(ROOT, "lab")) { Gem::Specification.load("larder-lab.gemspec") }
      assert_equal header_version, lab.version.to_s
    end

    test "the changelog begins with what is unreleased or with that version" do
      heading = File.foreach(File.join(ROOT, "CHANGELOG.md"), encoding: "UTF-8").grep(/^## /).first
      assert_match(/\A## (?:Unreleased|\[?#{Regexp.escape(header_version)}\]?)/, heading)
    end

    test "a section of the changelog names one file format at most, and the newest name is the present format" do
      changelog = File.read(File.join(ROOT, "CHANGELOG.md"), encoding: "UTF-8")
      formats = changelog.split(/^## /).map { |section| section.scan(/file\s+format\s+is\s+(\d+\.\d+)/).flatten }
      assert_operator formats.map(&:size).max, :<=, 1
      layout = File.read(File.join(ROOT, "engine/src/base/layout.h"), encoding: "UTF-8")
      assert_equal %w[MAJOR MINOR].map { |part| layout[/^#define LARD_FORMAT_#{part} (\d+)u/, 1] }.join("."),
                   formats.flatten.first
    end

    test "the fast path is enabled on the Rails that are tested, each has its Gemfile, and the README names them" do
      store = File.read(File.join(ROOT, "lib/larder/store/fast_path.rb"), encoding: "UTF-8")
      readme = File.read(File.join(ROOT, "README.md"), encoding: "UTF-8")[/^## Versions$.*?^## /m]
      assert_equal Environment::GEMFILES.keys, store[/TESTED_RAILS = %w\[(.*)\]/, 1].split
      Environment::GEMFILES.each do |rails, gemfile|
        assert_match(/^gem "rails", "~> #{Regexp.escape(rails)}\.0"$/, File.read(File.join(ROOT, gemfile)))
        assert_includes readme, rails
      end
    end

    private

    def header_version
      File.read(File.join(ROOT, "engine/include/larder.h"), encoding: "UTF-8")[/^#define LARDER_VERSION "([^"]+)"/, 1]
    end
  end
end
