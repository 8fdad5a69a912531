# frozen_string_literal: true

require_relative "coded"
require_relative "../reports/figures"

module Larder
  module Lab
    module Suites
      # The published comparison of strategies by type: lists of records in Redis with the published 50 MB, each with an
      # expiry; first and warm calls.
      module PublishedD
        # Records of a list, with the published lengths first and last.
        LENGTHS = [50_000, 1_000, 50].freeze
        ROOM = 50 << 20

        module_function

        # Keeps a list and its serializer.
        def prepare(scene, length)
          @lists ||= Hash.new { |lists, count| lists[count] = Payloads.of("records").value.first(count) }
          scene[:value] = @lists[length]
          scene[:way] = scene.contender.way(scene[:value])
          scene[:name] = length.to_s
          scene.contender.connect
        end

        # Stores the list, and reads its sizes back from the server.
        def store(scene, length)
          prepare(scene, length)
          copy = write(scene) && scene[:way].back.call(scene.contender.read(scene[:name]))
          right = scene[:way].keeps ? scene[:value] : Codecs.plain(scene[:value])
          Coded.refuse("of #{length} records") unless copy == right
          scene.figures.update(scene.contender.sizes(scene[:name]), "keeps" => scene[:way].keeps ? 1 : 0)
        end

        def write(scene) = scene.contender.write(scene[:name], scene[:way].there.call(scene[:value]))

        # false if it is a list of another length
        def read(scene) = scene[:way].back.call(scene.contender.read(scene[:name])).size == scene[:value].size
      end

      register("published-d", Bench::Suite.define("published-d") do
        title "Strategies by type: lists of records in Redis"
        command "strategies", "ways to store lists of records in Redis, cold and warm, by length", <<~TEXT
          Writes lists of 50,000, 1,000 and 50 records {Id, PropertyA..D} to Redis and
          reads them, as published, with a limit of 50 MB and an expiry. The published
          figures are of first calls; first calls and later ones are measured apart. Sizes
          are those that Redis reports. --quick leaves out lists of 50,000.
        TEXT
        question "How long does a list of {Id, PropertyA..D} take to Redis and back, and how much room there?"
        registry Codecs::Strategies
        bundle Gemfiles::CODECS
        size PublishedD::ROOM
        base "binary"
        answers "read_50000", "write_50000", "read_50"
        preload { Payloads.of("records") }

        PublishedD::LENGTHS.product(%i[read write]) do |length, operation|
          thousands = Reports::Figures.thousands(length)
          fields = { axes: { "records" => thousands }, call: proc { |scene| PublishedD.public_send(operation, scene) } }

          unless length == PublishedD::LENGTHS[1]
            block("first_#{operation}_#{length}", "first #{operation} of a process, #{thousands} records",
                  short: "first #{operation}, #{thousands}", heading: "first #{operation}", cold: 1,
                  slow: length == PublishedD::LENGTHS.first, **fields) do
              setup { |scene| PublishedD.store(scene, length) if operation == :read }
              load { |scene| PublishedD.prepare(scene, length) }
            end
          end

          block("#{operation}_#{length}", "#{operation}, #{thousands} records", short: "#{operation}, #{thousands}",
                heading: operation.to_s, slow: length > 1000, **fields) do
            setup { |scene| PublishedD.store(scene, length) }
          end
        end
      end)
    end
  end
end
