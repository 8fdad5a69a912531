# frozen_string_literal: true

require_relative "../population"

module Larder
  module Lab
    module SessionStats
      module Stores
        # Larder::Sessions, asked as an application asks it.
        class LarderStore < Sessions::Stores::LarderStore
          extend Listed
          named "larder", "Larder::Sessions: an index of users and counters beside the sessions, in the same file"
          bundled_apart "sessions"

          # Bytes of the file for each session, and at least: those who are signed in may have two thirds of it.
          ROOM = 900
          LEAST = 16 * 1024 * 1024

          # @return [Array<String>] nothing of Rails' is needed
          def definitions
            []
          end

          # Opens the file for this population, and makes it.
          # @param population [Population]
          # @return [void]
          def take(population)
            leave
            @population = population
            @now = population.at
            @cache = ::Larder::Cache.open(File.join(dir, "sessions-#{population.size}.larder"),
                                          size: [population.size * ROOM, LEAST].max)
            @repository = repository_of(@cache)
            @repository.index.announce
            ::Larder::Sessions.use(@repository)
          end

          # Begins all sessions, each at its time.
          # @yieldparam loaded [Integer] sessions so far, now and then
          # @return [void]
          # @raise [Invalid]
          def load
            @population.size.times do |number|
              @now = @population.used(number)
              begun = @repository.begin(key(number), @population.values(number))
              raise Invalid, "session #{number} could not be begun" unless begun

              yield number if (number % Worker::TOGETHER).zero?
            end
          ensure
            @now = @population.at
          end

          # @return [Hash{Symbol=>Numeric}] bytes of all sessions with everything beside them, and of those who are
          #   signed in with their users' entries
          def weigh
            stats = @cache.stats
            raise Invalid, "#{stats[:evictions]} sessions were evicted" if stats[:evictions].positive?

            # A session and its user are two items of the index.
            index = 2 * @population.signed_in * stats[:index_bytes].fdiv(stats[:items])
            { bytes: stats[:used_bytes], signed_in_bytes: stats[:pinned_bytes] + index }
          end

          # @return [Hash{String=>#call}] by name: what takes a user's id, seconds or nothing
          def questions
            { "logged-in" => ->(user) { ::Larder::Sessions.logged_in?(user) },
              "last-seen" => ->(user) { ::Larder::Sessions.last_seen(user) },
              "for" => ->(user) { ::Larder::Sessions.for(user) },
              "active" => ->(seconds) { ::Larder::Sessions.active(last: seconds) },
              "all" => ->(_) { ::Larder::Sessions.stats } }
          end

          # @param answer [Object] of a question
          # @return [Object] Integer, Boolean, or [[Unix seconds of the last use]] for sessions
          def plain(answer)
            case answer
            when Time then answer.to_i
            when Hash then answer[:sessions]
            when Array then answer.map { |info| info.used_at.to_i }
            else answer
            end
          end

          # @param seconds [Integer] that were asked about
          # @return [Integer] seconds to which the answer is right, as documented
          def grain(seconds)
            return Population::MINUTE if seconds <= 2 * Population::HOUR

            seconds <= 3 * Population::DAY ? Population::HOUR : Population::DAY
          end

          # Sessions whose last use was a minute ago, for as long as the block runs.
          # @param numbers [Array<Integer>]
          # @yieldparam list [Array<Object>] what {#note} takes, one for each
          # @return [Object] the block's
          def noting(numbers)
            activity = @repository.index.activity
            real = numbers.map { |number| @repository.record(key(number)) }
            before = real.map { |record| record.with(used: @now - Population::MINUTE) }
            after = real.map { |record| record.with(used: @now) }
            real.zip(before) { |records| activity.moved(*records) }
            yield before.zip(after)
          ensure
            after&.zip(real) { |records| activity.moved(*records) }
          end

          # @return [#call] notes one use
          def note
            index = @repository.index
            ->(records) { index.counting(*records) { :stored } }
          end

          # Closes the file.
          # @return [void]
          def leave
            return unless @repository

            @cache.close
            @repository = nil
          end

          # @return [Hash{Symbol=>Object}] for the record
          def recorded
            { store: name, options: { idle_timeout: idle, anonymous_timeout: anonymous, room: ROOM } }
          end

          private

          def key(number)
            [@population.digest(number)].pack("H*")
          end

          # As the middleware makes it, but for the clock.
          def repository_of(cache)
            sessions = ::Larder::Sessions
            require "larder/sessions/backends/file"
            sessions::Repository.new(backend: sessions::Backends::File.new(cache),
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
