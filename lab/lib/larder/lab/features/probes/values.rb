# frozen_string_literal: true

require_relative "../probe"

module Larder
  module Lab
    module Features
      # What becomes of a value and of a key.
      class Values < Probe
        # See {Probe}.
        QUESTIONS = %w[serializes largest long_keys delete_matched].freeze
        # The largest value is found to so many bytes.
        STEP = 4096
        # Lengths of keys, in bytes; each is tried with two keys that differ in the last.
        LENGTHS = [251, 1024, 4096, 65_536].freeze

        # Is a copy kept, or the very object?
        def serializes
          value = { "list" => ["a"] }
          keep("mutable", value)
          value["list"] << "b"
          first = store.read("mutable")
          return [false, "changing the object afterwards changed what is cached"] unless first == { "list" => ["a"] }

          first["list"] << "c"
          return [true, "a copy is kept, and a copy is read"] if seen?("mutable", { "list" => ["a"] })

          [false, "changing what was read changed what is cached"]
        end

        # The largest value, incompressible, that can be read back.
        def largest
          most = job["largest"]
          return [most, "or more"] if held?(most)

          fits = 0
          fails = most
          while fails - fits > STEP
            middle = (fits + fails) / 2
            held?(middle) ? fits = middle : fails = middle
          end
          [fits, "of incompressible bytes"]
        end

        # Are keys beyond memcached's 250 bytes kept apart to their last byte?
        def long_keys
          longest = LENGTHS.take_while { |length| apart?(length) }.last
          return [true, "tried up to #{longest} bytes"] if longest

          [false, "keys of #{LENGTHS.first} bytes are lost or mixed up"]
        end

        # Can keys be deleted by a pattern?
        def delete_matched
          with = { "Regexp" => /matched-a\d/, "glob" => "*matched-a*" }.find { |_, pattern| matched?(pattern) }
          with ? [with.first, "delete_matched takes a #{with.first}"] : [false, @refusal || "nothing was deleted"]
        end

        private

        def noise
          @noise ||= Random.new(1).bytes(job["largest"])
        end

        def held?(bytes)
          value = noise.byteslice(0, bytes)
          store.write("large", value, compress: false) && seen?("large", value)
        rescue StandardError
          false # too large, as this store says it
        ensure
          forget("large")
        end

        def forget(key)
          store.delete(key)
        rescue StandardError
          nil # a connection that was cut with the value
        end

        def apart?(length)
          first, second = %w[1 2].map { |end_of_key| "#{"k" * (length - 1)}#{end_of_key}" }
          store.write(first, "first")
          store.write(second, "second")
          seen?(first, "first") && seen?(second, "second")
        rescue StandardError
          false # a length that this store refuses
        end

        def matched?(pattern)
          %w[a1 a2 b1].each { |name| keep("matched-#{name}", name) }
          store.delete_matched(pattern)
          store.read("matched-a1").nil? && store.read("matched-a2").nil? && seen?("matched-b1", "b1")
        rescue Lost
          raise
        rescue StandardError, NotImplementedError => error
          @refusal = "#{error.class}: #{error.message.lines.first.to_s.strip}"
          false
        end
      end
    end
  end
end
