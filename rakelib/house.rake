# frozen_string_literal: true

# Tasks about the repository as a whole. The mechanics are in rakelib/house/.

desc "Run the Ruby tests (one file: bin/test FILE)"
task test: :compile do
  ruby "bin/test", "--no-setup", "--only", "ruby,tools"
end

namespace :house do
  desc "RuboCop, clang-format, and who may require whom"
  task :style do
    ruby "bin/test", "--no-setup", "--only", "style"
  end

  desc "Rewrite the C sources in the repository's format"
  task :format do
    sources = Dir["{engine,ext}/**/*.{c,h}"].reject { |path| path.start_with?("engine/build/") }
    sh "clang-format", "-i", *sources
  end

  desc "Check that every public class and method is documented"
  task :docs do
    ruby "-w", "rakelib/house/documented.rb"
  end

  desc "Take sentences that were rewritten out of the record of phrases to avoid (test/house/dialect.txt)"
  task :dialect do
    require_relative "house/dialect_record"
    House::DialectRecord.new.lower
  end

  desc "Take pictures of a report of the lab (rake 'house:pictures[report.html,directory]')"
  task :pictures, [:page, :directory] do |_, given|
    ruby "-rbundler/setup", "rakelib/house/pictures.rb", given[:page].to_s, given[:directory].to_s
  end
end

namespace :docs do
  desc "Write the tables of docs/reference/options.md from the table of options"
  task :options do
    ruby "-Ilib", "-rbundler/setup", "rakelib/house/options_page.rb"
  end

  desc "Write man/larder.1 from the help of the commands"
  task :man do
    ruby "-Ilib", "-rbundler/setup", "rakelib/house/man_page.rb"
  end
end
