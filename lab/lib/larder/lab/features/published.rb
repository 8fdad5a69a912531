# frozen_string_literal: true

module Larder
  module Lab
    module Features
      # The published table of stores, as facts. The lab tested none of it.
      module Published
        COLUMNS = %w[serializes compression local_store cross_process node_local remote cluster].freeze
        # name of the store => true, false or a word for each column
        ROWS = { "memory" => [true, false, false, false, false, false, false],
                 "file" => [true, true, false, true, true, false, false],
                 "memcached" => [true] * 7,
                 "redis" => [true] * 7,
                 "solid_cache" => [true, true, true, true, "maybe", true, true] }.freeze
        REMARK = "The article asks also whether memory or disk limits a store, and answers for none."

        module_function

        # @param name [String] of a contender
        # @return [String, nil] the published row that is about it
        def row(name)
          ROWS.keys.find { |key| name == key || name.start_with?("#{key}-", "#{key}_") }
        end

        # @param name [String] of a contender
        # @param question [String]
        # @return [true, false, String, nil] nil: it has no such row or column
        def answer(name, question)
          column = COLUMNS.index(question)
          column && ROWS.dig(row(name), column)
        end
      end
    end
  end
end
