# frozen_string_literal: true

require "test_helper"
require "larder/remote"

module Larder
  # Marks next to a journal whose name has other letters than ASCII, in a locale without UTF-8.
  class OutboxNamesTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes

    SCRIPT = <<~'RUBY'
      # encoding: UTF-8
      require "larder/remote"
      outbox = Larder::Remote::Outbox
      journal = File.join(ARGV[0].dup.force_encoding("UTF-8"), "café.larder.journal")
      outbox::Mark.new(journal, 1).make
      p outbox::Mark.new(journal, 2).others
      outbox::Memory.new(journal, 1).add(:delete, ["k"])
      p outbox::Memory.new(journal, 1).others.map { |file| file.delete_prefix("#{journal}.").sub(/\..*\./, ".") }
    RUBY

    ["C", "C.UTF-8"].each do |locale|
      test "marks of other stores and processes are found: #{locale}" do
        printed = run_ruby(SCRIPT, directory, env: { "LC_ALL" => locale })
        assert_equal ["[1]", '["0000000000000001.pending"]'], printed.lines(chomp: true)
      end
    end
  end
end
