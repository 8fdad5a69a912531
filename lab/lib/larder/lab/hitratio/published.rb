# frozen_string_literal: true

require_relative "../published"
require_relative "size"

module Larder
  module Lab
    module Hitratio
      # The published misses of a trace. The lab measured none.
      module Published
        ARTICLE = ::Larder::Lab::Published.of("hitratio")
        # Its file, and its requests, by which the trace is known whatever its file is called.
        TRACE, REQUESTS = ARTICLE.trace.values_at("file", "requests")
        # Sizes of the cache, as they are typed, with their bytes.
        SIZES = ARTICLE.tables.first.columns.to_h { |size| [size.title, Size.parse(size.title).bytes_of(0)] }.freeze
        # policy => its published name, and its misses at each size
        ROWS = ARTICLE.tables.first.rows
        # The finding about loops, and the traces that are loops.
        LOOPS = ARTICLE.findings.first
        LOOP = /\A(loop|lirs-)/

        module_function

        # @return [Boolean] was something published of it?
        def of?(trace) = !trace.sizes.nil? && trace.requests.size == REQUESTS

        # @return [Boolean] was something published of this trace at this size?
        def row?(row) = SIZES.value?(row.capacity) && row.requests == REQUESTS && !row.object_bytes

        # @param capacity [Integer] one of the sizes
        # @return [Integer, nil] misses
        def misses(policy, capacity) = ROWS.fetch(policy, [])[1 + SIZES.values.index(capacity)]
      end
    end
  end
end
