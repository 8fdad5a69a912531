# frozen_string_literal: true

# Lists the questions about a store, in the words and in the order of the tables, with the answers of the published
# table.

module Larder
  module Lab
    module Features
      # Columns of the tables. key: as answers name it; title: of the column; meaning: a sentence.
      Question = Struct.new(:key, :title, :meaning)

      # The lists of questions, a table each.
      module Questions
        PUBLISHED = [
          ["serializes", "serializes", "a copy is kept: changing the object, or what was read, changes nothing cached"],
          ["compression", "compression", "a value of 900 kB that can be compressed is, unasked or with compress: true"],
          ["local_store", "local store", "inside with_local_cache a second read does not reach the store"],
          ["cross_process", "cross process", "a second process reads what the first wrote, and the other way round"],
          ["node_local", "node local", "the processes of one machine share it without another machine"],
          ["remote", "remote", "a client reaches it by host and port"],
          ["cluster", "cluster", "a client spreads its keys over two servers"],
          ["limited_by", "limited by", "what grew by the values held"]
        ].map { |row| Question.new(*row).freeze }.freeze

        LASTING = [
          ["app_restart", "app restart", "a value is there in the next process, after the first one has ended"],
          ["app_killed", "app kill -9", "the same after kill -9 of the process that wrote it"],
          ["server_restart", "server restart", "the same after the server was stopped and started"],
          ["server_killed", "server kill -9", "the same after kill -9 of the server"],
          ["fork_safe", "fork", "a child uses the store that its parent has opened, and the parent afterwards"],
          ["atomic_increment", "increment", "no increment of several processes at once is lost"]
        ].map { |row| Question.new(*row).freeze }.freeze

        CALLS = [
          ["expires", "expires", "a value is gone after its second"],
          ["expires_within_a_second", "under 1 s", "and one of 0.4 s is there, and gone in time"],
          ["race_condition_ttl", "race ttl", "while one renews an expired value, others read the old one"],
          ["delete_matched", "delete_matched", "what pattern it takes"],
          ["long_keys", "keys > 250 B", "such keys are kept apart to the last byte"],
          ["largest", "largest value", "that can be read back, of at most 16 MiB tried"]
        ].map { |row| Question.new(*row).freeze }.freeze

        FILLING = [
          ["evicts", "evicts", "twice its limit of small values: old ones go, new ones stay"],
          ["within_limit", "within limit", "no more is taken than a quarter above what it was told"]
        ].map { |row| Question.new(*row).freeze }.freeze

        # What {Filling} answers.
        OF_FILLING = %w[evicts limited_by within_limit].freeze

        # @return [Array<Question>]
        def self.all
          PUBLISHED + LASTING + CALLS + FILLING
        end
      end

      # The published table of stores, as facts. Nothing here was tested by the lab.
      module PublishedTable
        COLUMNS = %w[serializes compression local_store cross_process node_local remote cluster].freeze
        ROWS = { "memory" => [true, false, false, false, false, false, false],
                 "file" => [true, true, false, true, true, false, false],
                 "memcached" => [true] * 7,
                 "redis" => [true] * 7,
                 "solid_cache" => [true, true, true, true, "maybe", true, true] }.freeze

        # @param name [String] of a contender
        # @param question [String]
        # @return [true, false, String, nil] nil: it has no such row or column
        def self.answer(name, question)
          row = ROWS.keys.find { |key| name == key || name.start_with?("#{key}-", "#{key}_") }
          column = COLUMNS.index(question)
          row && column && ROWS[row][column]
        end
      end
    end
  end
end
