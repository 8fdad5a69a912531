# frozen_string_literal: true

# Runs programs to their end, with their output in a log.

require "fileutils"
require "open3"

module Foreign
  # Programs whose failure ends the run.
  module Shell
    # A program that ended with a failure.
    class Failed < StandardError; end

    module_function

    # @param argv [Array<String>]
    # @param env [Hash{String => String, nil}]
    # @param log [String, nil] a file to append to; nil: the terminal
    # @param dir [String]
    # @return [void]
    # @raise [Failed] where it fails
    def run(argv, env: {}, dir: ".", log: nil)
      warn "bin/foreign: #{argv.join(" ")}"
      return if status(argv, env: env, dir: dir, log: log)

      raise Failed, "#{argv.join(" ")} failed in #{dir}#{"; see #{log}" if log}"
    end

    # @return [Boolean] whether it ended with success
    def status(argv, env: {}, dir: ".", log: nil)
      FileUtils.mkdir_p(File.dirname(log)) if log
      output = log ? [log, "a"] : $stderr
      system(env, *argv, chdir: dir, out: output, err: output, in: File::NULL)
    end

    # @return [String] its output and errors together
    # @raise [Failed]
    def output(argv, env: {}, dir: ".")
      text, status = Open3.capture2e(env, *argv, chdir: dir, stdin_data: "")
      raise Failed, "#{argv.join(" ")} failed in #{dir}: #{text}" unless status.success?

      text
    end
  end
end
