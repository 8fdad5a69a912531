# frozen_string_literal: true

# The gem of the cache: engine (C sources), glue, the byte cache and the Rails store. The lab is a gem of its own
# (lab/larder-lab.gemspec).

header = File.read(File.join(__dir__, "engine/include/larder.h"), encoding: "UTF-8")

Gem::Specification.new do |spec|
  spec.name = "larder"
  # The header is the one place of the version; test/house/versions_test.rb checks lib/larder/version.rb against it.
  spec.version = header[/^#define LARDER_VERSION "([^"]+)"/, 1]
  spec.authors = ["Larder contributors"]
  spec.summary = "A cache shared by all processes of a machine, behind the Rails cache API"
  spec.description = "An embedded cache engine in C: one memory-mapped file, reads without locks, writes that " \
                     "survive kill -9, no server to run. As config.cache_store = :larder_store it is a complete " \
                     "Rails cache store; as Larder::Cache it keeps bytes for any Ruby program."
  spec.homepage = "https://rubygems.org/gems/larder"
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"

  # The sources are in the gem, with all that its documents link to; the page of the gem is where it is had.
  spec.metadata = {
    "rubygems_mfa_required" => "true",
    "source_code_uri"       => spec.homepage,
    "changelog_uri"         => "https://rubydoc.info/gems/larder/file/CHANGELOG.md",
    "documentation_uri"     => "https://rubydoc.info/gems/larder"
  }

  # test/house/gem_test.rb builds and installs it, and follows the links.
  spec.files = Dir.chdir(__dir__) do
    Dir["exe/*", "man/*", "lib/**/*.{rb,css,js,svg}", "ext/**/*.{c,h,rb}", "engine/{src,include}/**/*.{c,h}",
        "*.md", "docs/**/*.{md,png}", "examples/prometheus/*.yml", "{bench,lab,proof,examples/recipes}/README.md",
        "bench/results/speed.md", "proof/reports/*.md", "LICENSE", ".yardopts"].sort
  end
  spec.bindir = "exe"
  spec.executables = ["larder"]
  spec.require_paths = ["lib"]
  spec.extensions = ["ext/larder/extconf.rb"]

  spec.add_dependency "activesupport", ">= 7.1"
end
