# frozen_string_literal: true

# How the values of a list are encoded, in few words.

module Larder
  class Dashboard
    # @api private
    module Codecs
      # Bytes of a value that is read for it.
      MOST = 64 << 10
      private_constant :MOST

      module_function

      # @param cache [Cache]
      # @param item [Cache::Item]
      # @return [String]
      def of(cache, item)
        return "not read: a large value" if item.size > MOST

        found, bytes = cache.item_with_value(item.key)
        return "gone" unless found

        Inspection::Values::Decoder.new(found, bytes).view.encoding.join(", ")
      end
    end
  end
end
