# frozen_string_literal: true

# Instruction counts on record (test/guards). `bin/test --only guards` compares with them.

namespace :guards do
  desc "Record how many instructions a get, set, delete, fetch, read and write take with this compiler and Ruby"
  task record: :compile do
    require_relative "../test/guards/instruction_counts"
    Guards::InstructionCounts.record
    puts File.read(Guards::InstructionCounts::RECORD)
  end
end
