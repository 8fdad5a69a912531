# frozen_string_literal: true

# Counts on record (test/guards). `bin/test --only guards` compares with them.

namespace :guards do
  desc "Record how many instructions calls take with this compiler and Ruby, and pages and system calls of a set"
  task record: :compile do
    require_relative "../test/guards/instruction_counts"
    require_relative "../test/guards/page_counts"
    Guards::PageCounts.record
    Guards::InstructionCounts.record
    puts File.read(Guards::InstructionCounts::RECORD)
  end
end
