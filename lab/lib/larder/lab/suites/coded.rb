# frozen_string_literal: true

require_relative "../errors"
require_relative "../gemfiles"
require_relative "../payloads"
require_relative "../codecs/lists"

module Larder
  module Lab
    module Suites
      # Prepares the blocks of suites about codecs: makes payloads, and proves first that each comes back.
      module Coded
        # The payload that the user gives.
        GIVEN = "given"

        # Calls of blocks. Each answers whether the codec made as many bytes as before, or as much came back.
        THERE = proc { |scene| scene[:way].there.call(scene[:value]).bytesize == scene[:packed].bytesize }
        BACK = proc { |scene| Coded.alike?(scene[:way].back.call(scene[:packed].dup), scene[:copy]) }
        ROUND_TRIP = proc do |scene|
          Coded.alike?(scene[:way].back.call(scene[:way].there.call(scene[:value])), scene[:copy])
        end

        module_function

        # Has a suite work on these payloads, or on the user's.
        def choose(suite, *payloads)
          suite.bundle Gemfiles::CODECS
          suite.takes "--payload SOURCE", "your data: a file (.json, .rb, any) or ruby:CODE", method(:source)
          suite.preload { load(*payloads) }
        end

        # The same, with a block for each of them and each call: heading => code. `setup` gets the payload, too.
        def declare(suite, payloads, setup, calls)
          choose(suite, *payloads)
          [*payloads, GIVEN].product(calls.to_a) do |payload, (heading, call)|
            suite.block("#{heading} #{payload}".tr(" -", "_"), "#{heading}, #{payload}",
                        axes: { "payload" => payload }, heading: heading, given: payload == GIVEN,
                        setup: ->(scene) { setup.call(scene, payload) }, call: call)
          end
        end

        # The text that the user has typed, with the whole path of a file.
        def source(text)
          return text if text.start_with?(Payloads::EXPRESSION)
          return File.expand_path(text) if File.file?(text)

          raise UsageError, "--payload #{text}: no such file; an expression begins with ruby:"
        end

        # Makes payloads before processes are forked.
        def load(*names)
          names.each { |name| Payloads.of(name).bytes }
        rescue Unavailable
          nil # each block that needs it says so
        end

        # Keeps the bytes of a payload, and the same compressed.
        def compress(scene, payload)
          serialize(scene, payload, Payloads::Payload.new(taken { Payloads.of(payload, scene.given).bytes }))
        end

        # Keeps a value, and the same serialized.
        def serialize(scene, payload, made = Payloads.of(payload, scene.given))
          way = scene[:way] = scene.contender.way(made.value)
          scene[:value] = made.value
          scene[:packed] = taken { way.there.call(made.value) }
          scene[:copy] = way.back.call(scene[:packed].dup)
          scene.figures.update("bytes" => scene[:packed].bytesize, "keeps" => way.keeps ? 1 : 0)
          refuse(payload) unless same?(made, way, scene[:copy])
        end

        # True if a copy that came back is the value, or its likeness where a codec brings back no more.
        def same?(made, way, copy) = way.keeps ? made.same?(copy) : copy == Codecs.plain(made.value)

        # True if both are of one class and size. Comparing all of a megabyte would be a large part of each figure.
        def alike?(copy, other)
          copy.instance_of?(other.class) && (!copy.respond_to?(:size) || copy.size == other.size)
        end

        # A value that a codec cannot take makes the block unavailable, not the row invalid.
        def taken
          yield
        rescue Unavailable, Invalid
          raise
        rescue StandardError, SystemStackError => error
          raise Unavailable, "the payload cannot be serialized: #{error.class}: #{error.message.lines.first.to_s.strip}"
        end

        def refuse(payload)
          raise Invalid, "a wrong value: the payload #{payload} did not come back as it was"
        end
      end
    end
  end
end
