# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      module Shop
        # A store that answers at once, for pages: what was written last, or the same names together, without asking the
        # records in a key. A page with it costs what a page costs without a cache's work.
        class StoreAtOnce
          # @return [String, nil]
          def read(_name, _options = nil)
            @written
          end

          # @return [Boolean]
          def write(_name, value, _options = nil)
            @written = value
            true
          end

          # @return [Hash] what was written together last
          def read_multi(*_names, **)
            @together || {}
          end

          # @return [Boolean]
          def write_multi(values, **)
            @together = values
            true
          end
        end
      end
    end
  end
end
