# frozen_string_literal: true

# What the Gemfiles of this directory have in common: the lab, and the very version of Rails that lab/Gemfile resolved
# to, so that no contender is measured on another one. Install the gems of lab/Gemfile first.

source "https://rubygems.org"

lock = File.expand_path("../Gemfile.lock", __dir__)
rails = File.exist?(lock) && File.read(lock)[/^    activesupport \((\d[^)]*)\)$/, 1]
abort "#{lock} is missing or names no activesupport: run bin/lab" unless rails

RAILS_OF_THE_LAB = rails

gemspec path: ".."
gem "larder", path: "../.."
gem "activesupport", rails
gem "actionpack", rails # pages of cached fragments
gem "activerecord", rails # records

# The RubyGems of Ruby 3.1 cannot use the binaries of later versions, and to compile these takes minutes.
gem "nokogiri", "< 1.17" if Gem.rubygems_version < Gem::Version.new("3.3.22")

# Gems that Ruby ships: its own versions have nothing to compile. Not psych: named here, Bundler compiles it where
# Ruby's own is no installed gem, and needs libyaml's headers.
["bigdecimal", "date", "io-console", "racc", "stringio"].each do |name|
  shipped = Gem::Specification.find_all_by_name(name).find(&:default_gem?)
  gem name, shipped.version.to_s if shipped
end
