# frozen_string_literal: true

# Gems that every stack uses; read by ../Gemfile and the files beside this one.

gem "minitest", "~> 5.16"
gem "rake", "~> 13.0"

eval_gemfile "codecs.rb"

# The clients of the stores on servers that codecs are tested in.
gem "dalli", "~> 4.3"
gem "redis", "~> 5.0"

# What applications keep sessions in, or sign in with, beside Larder: tested with it.
gem "activerecord-session_store", "~> 2.2"
gem "bcrypt", "~> 3.1" # of the authentication that Rails 8 generates
gem "devise", ">= 4.9", "< 6"
gem "solid_cache", ">= 0.7", "< 2"

# Keeps records of applications in the cache of Rails.
gem "identity_cache", "~> 1.6", require: false

# The server of the recipes application, as its own Gemfile has it.
gem "puma", "~> 8.0"

# Later versions bring a parser to compile, or psych, which needs libyaml's headers on a machine that may not have them.
gem "irb", "~> 1.13", "< 1.15"
gem "rdoc", "~> 6.3.4"

group :lint do
  gem "redcarpet", "~> 3.6"
  gem "rubocop", "~> 1.75.8"
  gem "yard", "~> 0.9.37"
end
