# frozen_string_literal: true

require_relative "lib/larder/lab/version"

Gem::Specification.new do |spec|
  spec.name = "larder-lab"
  spec.version = Larder::Lab::VERSION
  spec.authors = ["Larder contributors"]
  spec.summary = "Measures Rails cache stores against each other on your own machine"
  spec.description = <<~TEXT
    Runs the published comparisons of Rails cache stores again, on your machine and with your versions: Larder beside
    memory, file, Solid Cache, Litecache, Redis, Valkey and memcached. Fresh processes, interleaved rounds, verified
    values, a noise floor, and intervals instead of single figures.
  TEXT
  spec.homepage = "https://rubygems.org/gems/larder-lab"
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true", "documentation_uri" => "https://rubydoc.info/gems/larder-lab" }

  spec.files = Dir.glob(["README.md", "exe/*", "lib/**/*.{rb,css,erb,yml}", "schema/*.json", "traces/*.trace"],
                        base: __dir__)
  spec.bindir = "exe"
  spec.executables = ["larder-lab"]
  spec.require_paths = ["lib"]

  # The contenders ask for their own gems at first use; see "Contenders" in the README.
  spec.add_dependency "activesupport", ">= 7.1"
  spec.add_dependency "larder", Larder::Lab::VERSION
end
