# frozen_string_literal: true

# The files that a guide shows: blocks of Ruby whose first line is a comment with the path. They go into a generated
# application.

require "fileutils"
require "open3"

# Included together with GeneratedApplication.
module GuideFiles
  ROOT = File.expand_path("../..", __dir__)

  # @param guide [String] below the root
  # @return [String]
  def self.text(guide)
    File.read(File.join(ROOT, guide), encoding: "UTF-8")
  end

  # @param guide [String]
  # @return [Hash{String=>String}] blocks by path
  def self.of(guide)
    text(guide).scan(%r{^```ruby\n# ([a-z_/]+\.rb)\n(.*?)^```}m).to_h
  end

  # Configuration goes to the end of the file that is there, any other block into a file of its own or after it.
  #
  # @param files [Hash{String=>String}]
  def place_files(files)
    files.each do |path, block|
      next change(path, /^end\s*\z/, "#{block}end\n") if path.start_with?("config/environments/")

      write(path, File.exist?(place(path)) ? "#{File.read(place(path))}\n#{block}" : block)
    end
  end

  def write(path, text)
    FileUtils.mkdir_p(File.dirname(place(path)))
    File.write(place(path), text)
  end

  # @return [Array(String, Process::Status)] output and errors of a command in the application
  def run_in(*command, **variables)
    settings = { "RAILS_ENV" => nil, "LARDER_PATH" => nil, "BUNDLE_GEMFILE" => ENV.fetch("BUNDLE_GEMFILE", nil) }
    settings.update(variables.transform_keys(&:to_s))
    command.unshift(RbConfig.ruby) if command.first.start_with?("bin/")
    Open3.capture2e(settings, *command, chdir: root)
  end
end
