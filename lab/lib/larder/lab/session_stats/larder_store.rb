# frozen_string_literal: true

module Larder
  module Lab
    module SessionStats
      module Stores
        # Larder::Sessions, asked as an application asks it.
        class LarderStore < Row
          named "larder", "Larder::Sessions: an index of users and counters beside the sessions, in the same file"
          bundled_apart "sessions"

          # Bytes of the file for each session, and at least: those who are signed in may have two thirds of it.
          ROOM = 900
          LEAST = 16 * 1024 * 1024
          # Calls of Larder::Sessions, and the part of their answers that is compared.
          ASKED = { logged_in: ->(user) { ::Larder::Sessions.logged_in?(user) },
                    last_seen: ->(user) { ::Larder::Sessions.last_seen(user).to_i },
                    for: ->(user) { ::Larder::Sessions.for(user).map { |info| info.used_at.to_i } },
                    active: ->(seconds) { ::Larder::Sessions.active(last: seconds) },
                    all: ->(_) { ::Larder::Sessions.stats[:sessions] } }.freeze
          private_constant :ROOM, :LEAST, :ASKED

          # @return [Hash{Symbol=>Object}] for the record
          def recorded = { store: :larder_store, options: { **lifetimes, room: ROOM } }

          private

          def connect
            require "larder/sessions"
            require "larder/sessions/backends/file"
            @cache = ::Larder::Cache.open(File.join(dir, "sessions.larder"), size: [SESSIONS * ROOM, LEAST].max)
            @repository = repository
            @repository.index.announce
            ::Larder::Sessions.use(@repository)
          end

          # Begins all sessions, each at its time.
          def load
            SESSIONS.times do |number|
              @now = @population.used(number)
              @repository.begin(key(number), values(number)) or
                raise Invalid, "session #{number} could not be begun"
            end
            @now = @population.at
          end

          def bytes = @cache.stats[:used_bytes]

          def ask(question, argument) = ASKED.fetch(question).call(argument)

          # As documented.
          def grain(seconds)
            return Sessions::Population::MINUTE if seconds <= 2 * Sessions::Population::HOUR

            seconds <= 3 * Sessions::Population::DAY ? Sessions::Population::HOUR : Sessions::Population::DAY
          end

          def use(number, from, to)
            index = @repository.index
            before, after = [from, to].map { |used| @repository.record(key(number)).with(used: used) }
            -> { index.counting(before, after) { :stored } }
          end

          def key(number) = [@population.digest(number)].pack("H*")

          # As the middleware makes it, but for the clock.
          def repository
            sessions = ::Larder::Sessions
            sessions::Repository.new(backend: sessions::Backends::File.new(@cache),
                                     format: sessions::Format.fetch(:json),
                                     lifetimes: sessions::Lifetimes.new(**lifetimes),
                                     per_user: sessions::Configuration::PER_USER, clock: -> { @now },
                                     report: ->(error) { raise Invalid, error.message })
          end

          def lifetimes
            { idle: ::Larder::Sessions::Configuration::IDLE, anonymous: ::Larder::Sessions::Configuration::ANONYMOUS }
          end
        end
      end
    end
  end
end
