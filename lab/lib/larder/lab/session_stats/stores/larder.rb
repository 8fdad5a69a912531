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
          def recorded
            { store: :larder_store, options: { idle_timeout: idle, anonymous_timeout: anonymous, room: ROOM } }
          end

          private

          def connect
            require "larder/sessions"
            require "larder/sessions/backends/file"
            @cache = ::Larder::Cache.open(File.join(dir, "sessions.larder"), size: [SESSIONS * ROOM, LEAST].max)
            @repository = repository
            @repository.index.announce
            ::Larder::Sessions.use(@repository)
          rescue LoadError => error
            raise Unavailable, "larder cannot be loaded: bin/lab, or bundle exec rake compile (#{error.message})"
          end

          # Begins all sessions, each at its time.
          def load
            SESSIONS.times do |number|
              @now = @population.used(number)
              @repository.begin(key(number), @population.values(number)) or
                raise Invalid, "session #{number} could not be begun"
            end
            @now = @population.at
          end

          def bytes
            @cache.stats[:used_bytes]
          end

          def ask(question, argument)
            ASKED.fetch(question).call(argument)
          end

          # Seconds to which an answer about so many is right, as documented.
          def grain(seconds)
            return Population::MINUTE if seconds <= 2 * Population::HOUR

            seconds <= 3 * Population::DAY ? Population::HOUR : Population::DAY
          end

          # Sessions count as used a minute ago first.
          def uses(numbers)
            index = @repository.index
            pairs = numbers.map do |number|
              real, before = records(number)
              index.activity.moved(real, before)
              [before, real.with(used: @now)]
            end
            lambda do |turn|
              before, after = pairs[turn / 2 % pairs.size]
              index.counting(*(turn.even? ? [before, after] : [after, before])) { :stored }
              true
            end
          end

          def restore(numbers)
            numbers.each { |number| @repository.index.activity.moved(*records(number).reverse) }
          end

          # As it is, and used a minute ago.
          def records(number)
            real = @repository.record(key(number))
            [real, real.with(used: @now - Population::MINUTE)]
          end

          def key(number)
            [@population.digest(number)].pack("H*")
          end

          # As the middleware makes it, but for the clock.
          def repository
            sessions = ::Larder::Sessions
            sessions::Repository.new(backend: sessions::Backends::File.new(@cache),
                                     format: sessions::Format.fetch(:json),
                                     lifetimes: sessions::Lifetimes.new(idle: idle, anonymous: anonymous),
                                     per_user: sessions::Configuration::PER_USER, clock: -> { @now },
                                     report: ->(error) { raise Invalid, error.message })
          end

          def idle
            ::Larder::Sessions::Configuration::IDLE
          end

          def anonymous
            ::Larder::Sessions::Configuration::ANONYMOUS
          end
        end
      end
    end
  end
end
