# frozen_string_literal: true

module Larder
  module Lab
    module Suites
      module Features
        # Asks what single calls do. Its methods answer the questions of {BLOCKS}, see {Asking}.
        class Calls < Asking
          # Seconds between the end of a life and the look for its value.
          AFTERWARDS = 0.2
          # Lengths of keys; of each, two keys that differ in the last byte are tried.
          LENGTHS = [251, 1024, 4096, 65_536].freeze
          # Bytes of the largest value that is tried, and to how many bytes it is found.
          LARGEST = 16 << 20
          STEP = 4096

          private

          def expires = expired(1)

          def expires_within_a_second = expired(0.4)

          def race_condition_ttl
            keep("raced", "old", expires_in: 1, race_condition_ttl: 60)
            sleep 1.2
            meanwhile = nil
            store.fetch("raced", race_condition_ttl: 60, expires_in: 60) { (meanwhile = store.read("raced")) && "new" }
            [meanwhile == "old" && seen?("raced", "new"), "while it was renewed, others read #{meanwhile.inspect}"]
          end

          def delete_matched
            refusal = "nothing was deleted"
            kind, = { "Regexp" => /matched-a\d/, "glob" => "*matched-a*" }.find do |_, pattern|
              %w[a1 a2 b1].each { |name| keep("matched-#{name}", name) }
              store.delete_matched(pattern)
              store.read("matched-a1").nil? && store.read("matched-a2").nil? && seen?("matched-b1", "b1")
            rescue Lost
              raise
            rescue StandardError, NotImplementedError => error
              refusal = words(error)
              false
            end
            [kind || false, kind ? "delete_matched takes a #{kind}" : refusal]
          end

          def long_keys
            longest = LENGTHS.take_while { |length| apart?(length) }.last
            longest ? [true, "up to #{longest} bytes"] : [false, "keys of #{LENGTHS.first} bytes are lost or mixed up"]
          end

          def largest
            return [LARGEST, "or more"] if holds?(LARGEST)

            fails = (0..LARGEST / STEP).bsearch { |steps| !holds?(steps * STEP) }
            [[fails - 1, 0].max * STEP, "bytes"]
          end

          def expired(life)
            started = now
            put("expiring", "v", expires_in: life)
            there = seen?("expiring", "v")
            return [nil, "the machine is too busy to read within #{life} s"] if now - started > life / 2.0
            return [false, "a value of #{life} s is gone at once"] unless there

            sleep life + AFTERWARDS
            gone = store.read("expiring").nil?
            [gone, "after #{life} s it #{gone ? "is gone" : "is still there"}"]
          end

          def apart?(length)
            pair = %w[1 2].to_h { |last| ["#{"k" * (length - 1)}#{last}", last] }
            pair.each { |key, value| put(key, value) }
            pair.all? { |key, value| seen?(key, value) }
          rescue StandardError
            false # a length that this store refuses
          end

          def holds?(bytes)
            value = (@noise ||= Random.new(1).bytes(LARGEST)).byteslice(0, bytes)
            put("large", value, compress: false) && seen?("large", value)
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
        end
      end
    end
  end
end
