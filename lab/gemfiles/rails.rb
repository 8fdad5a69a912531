# frozen_string_literal: true

# What the Gemfiles of Rails applications on SQLite have in common.

eval_gemfile File.expand_path("shared.rb", __dir__)

gem "railties", RAILS_OF_THE_LAB

# Console tools that railties depends on and the lab never runs. Later ones compile a parser, or psych and with it need
# libyaml's headers.
gem "irb", "< 1.15"
gem "rdoc", "< 6.4"

# As for nokogiri in shared.rb.
gem "sqlite3", Gem.rubygems_version < Gem::Version.new("3.3.22") ? "~> 1.7" : "~> 2.1"
