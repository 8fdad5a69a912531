# frozen_string_literal: true

# Counts pages of the file and system calls for each MB that is stored: runs engine/bench/pages.c, and keeps the record
# (page_counts.yml). Judges nothing; the test does.

require "etc"
require "json"
require "yaml"
require_relative "instruction_counts"

module Guards
  # Counts of this build, and those on record. They depend on neither the machine nor its file system.
  module PageCounts
    RECORD = File.join(__dir__, "page_counts.yml")
    PAGE_BYTES = 4096
    HEADING = <<~TEXT
      # Pages of the file that a set accesses and stores to for the first time, and its system calls, for each MB of values:
      # exact. The page faults of a process are between the pages stored to and the sum of both. Written by
      # `bundle exec rake guards:record`.
    TEXT

    module_function

    # @return [Hash{String => Float}] counts for each MB
    # @raise [Unavailable]
    def now
      raise Unavailable, "pages are counted on Linux only" unless RbConfig::CONFIG["host_os"].include?("linux")
      raise Unavailable, "pages have #{page_bytes} bytes here" unless page_bytes == PAGE_BYTES

      InstructionCounts.in_directory do |directory|
        program = InstructionCounts.build_engine("bench-pages")
        output = InstructionCounts.run({}, program, "--json", "--directory", directory)
        output.lines.to_h { |line| JSON.parse(line).values_at("figure", "median") }.transform_values { |n| n.round(3) }
      end
    end

    # @return [Hash{String => Float}]
    def recorded
      YAML.safe_load_file(RECORD)
    end

    # @return [void]
    def record
      File.write(RECORD, HEADING + YAML.dump(now, line_width: -1))
    end

    def page_bytes
      Etc.sysconf(Etc::SC_PAGESIZE)
    end
    private_class_method :page_bytes
  end
end
