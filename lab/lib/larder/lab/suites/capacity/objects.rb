# frozen_string_literal: true

# Makes the small objects that stores are filled with. Each is made from its number alone, so it can be verified when
# it is read back and need not be kept. Its bytes cannot be compressed.

module Larder
  module Lab
    module Suites
      module Capacity
        # Objects of one kind.
        class Objects
          # Kinds by the names users type: what they are, and the bytes of those that are Strings.
          KINDS = { "1k" => ["Strings of 1,000 bytes", 1000], "100b" => ["Strings of 100 bytes", 100],
                    "10k" => ["Strings of 10,000 bytes", 10_000], "hash" => ["Hashes of six entries", nil] }.freeze
          # Room for strings to begin at different places of the noise.
          SLACK = 8192

          def initialize(kind, seed)
            @bytes = KINDS.fetch(kind).last
            @noise = Random.new(seed).bytes((@bytes || 0) + SLACK)
          end

          def [](number) = @bytes ? string(number) : hash(number)

          # Bytes of one, without key: of a Hash, as Marshal writes it.
          def bytes = @bytes || Marshal.dump(hash(123_456)).bytesize

          def self.key(number)
            "object/#{number}"
          end

          private

          # The number makes it the only one.
          def string(number)
            head = "#{number}:"
            head + @noise.byteslice((number * 7919) % SLACK, @bytes - head.bytesize)
          end

          def hash(number)
            { "id" => number, "name" => "name of #{number}", "price" => number / 100.0, "active" => number.even?,
              "tags" => ["a#{number % 10}", "b#{number % 7}"], "note" => nil }
          end
        end
      end
    end
  end
end
