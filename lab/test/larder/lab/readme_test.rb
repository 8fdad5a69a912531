# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    # The tables of the lab's README beside what is registered.
    class ReadmeTest < ActiveSupport::TestCase
      README = File.expand_path("../../../README.md", __dir__)

      test "it has 200 lines at most" do
        assert_operator File.foreach(README).count, :<=, 200
      end

      test "the table of commands has each" do
        assert_equal Commands.names.sort, names_of(tables("command").first).sort
      end

      test "the table of contenders has each, with a star if it takes part only on request" do
        rows = tables("name", "gem").first
        assert_equal Contenders.names.sort, names_of(rows).sort
        assert_equal (Contenders.names - Contenders.usual).sort, names_of(rows.grep(/\A\| [^|]*\(\*\)/)).sort
      end

      test "the table of session stores has each" do
        assert_equal Sessions::Stores.names.sort, names_of(tables("name", "sessions").first).sort
      end

      test "bin/lab takes as long as it says, wherever that is written" do
        root = File.expand_path("../../../..", __dir__)
        %w[README.md lab/README.md bin/lab].each do |file|
          lines = File.readlines(File.join(root, file), encoding: "UTF-8").grep(%r{\A\$ bin/lab +#|in one report, in })
          assert_equal [Commands::DURATION], lines.map { |line| line[/\w+ minutes/] }, file
        end
      end

      private

      # @return [Array<Array<String>>] the rows of the tables whose first columns have these titles
      def tables(*titles)
        table = /^\| #{titles.join(" \\| ")} \|.*\n\|[-|]+\n((?:\|.*\n)+)/
        File.read(README, encoding: "UTF-8").scan(table).map { |(rows)| rows.lines }
      end

      def names_of(rows) = rows.flat_map { |row| row[/\A\| ([^|]+)/, 1].scan(/`([^`]+)`/).flatten }
    end
  end
end
