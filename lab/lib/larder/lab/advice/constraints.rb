# frozen_string_literal: true

# Names the reasons against a choice however fast it is: values that other processes or machines do not see, too
# little room, types that are lost. A reason excludes the choice, or puts it behind others.

require_relative "../reports/figures"
require_relative "choice"

module Larder
  module Lab
    module Advice
      # Judges choices under the circumstances of a question.
      class Constraints
        # about: what of a choice it is; reason: why; final: does it leave the choice out, or only put it behind others?
        Objection = Struct.new(:about, :reason, :final, keyword_init: true)

        # @param question [Question]
        # @param parts [Parts]
        # @param model [Model]
        def initialize(question, parts, model)
          @question = question
          @parts = parts
          @model = model
          @found = {}
        end

        # @param choice [Choice]
        # @return [Array<Objection>]
        def against(choice)
          @found[choice] ||= [*store(choice.profile), *room(choice), *serializer(choice)]
        end

        # @param choice [Choice]
        # @return [Boolean] must it not be chosen?
        def out?(choice)
          against(choice).any?(&:final)
        end

        # @param choice [Choice]
        # @return [Boolean] may it be chosen without a word?
        def clear?(choice)
          against(choice).empty?
        end

        # Bytes that all that is cached takes with a choice.
        # @param choice [Choice]
        # @return [Float]
        def needed(choice)
          @question.size * share(choice)
        end

        # @param choice [Choice]
        # @return [Float] bytes in the store for each that Marshal writes
        def share(choice)
          @model.bytes(choice).fdiv(@parts.nature["marshal"] || @parts.bytes(choice.serializer))
        end

        private

        def store(profile)
          (@store ||= {})[profile.key] ||= [shared(profile), crash(profile), eviction(profile), *redis(profile)].compact
        end

        def out(about, reason)
          Objection.new(about: about, reason: reason, final: true)
        end

        def behind(about, reason)
          Objection.new(about: about, reason: reason, final: false)
        end

        def shared(profile)
          wanted = @question.shared_by
          return if wanted == "nobody" || profile.remote?
          return out(profile.key, "every process has its own, and sees nothing of the others'") if private?(profile)

          out(profile.key, of_one_host(profile)) if wanted == "hosts" && @question.hosts > 1
        end

        def private?(profile)
          profile.shared_by == "nobody"
        end

        def of_one_host(profile)
          layers = "; before a server it is a way for several machines, see there"
          "it is one host's: each of #{@question.hosts} would fill its own and not see the others' writes and deletes" \
            "#{layers if profile.key == "larder"}"
        end

        def crash(profile)
          return unless @question.persistent

          case profile.crash
          when :lost then out(profile.key, "it is empty after a crash of its machine")
          when :if_configured
            behind(profile.key, "it survives a crash only with RDB or AOF, with which it was not measured")
          end
        end

        def eviction(profile)
          behind(profile.key, "it removes nothing when it is full: it grows until somebody prunes it") unless
            profile.evicts
        end

        def redis(profile)
          return [] unless profile.redis

          [jobs(profile), policy(profile)]
        end

        def jobs(profile)
          return unless @question.redis_shared_with_jobs

          out(profile.key, "jobs need maxmemory-policy noeviction, under which a full cache refuses writes; with " \
                           "allkeys-lru jobs are thrown away. Give the cache a server of its own")
        end

        def policy(profile)
          case @question.redis_policy
          when "noeviction"
            behind(profile.key, "when full it refuses writes (noeviction): set maxmemory-policy allkeys-lru")
          when /\Avolatile/
            behind(profile.key, "it evicts only what expires (#{@question.redis_policy}): give every value " \
                                "expires_in, or set allkeys-lru")
          end
        end

        def room(choice)
          found = []
          found << out(choice.store, "it refuses a value of #{bytes(@model.bytes(choice))}") unless @model.fits?(choice)
          return found unless choice.profile.in_memory && needed(choice) > @question.memory

          [*found, out(choice.to_s, "#{bytes(needed(choice))} do not fit into #{bytes(@question.memory)} of memory")]
        end

        def bytes(number)
          Reports::Figures.bytes(number)
        end

        def serializer(choice)
          name = choice.serializer
          lost = @parts.losses(name)
          found = lost.empty? ? [] : [out(name, "it does not bring the value back as it was: #{lost.join(", ")}")]
          return found unless name == "marshal" && choice.profile.remote? && !@question.trust

          [*found, behind("marshal on a server", "whoever can write to the server runs code in the application: sign " \
                                                 "it (sign_with:, whose time was not measured), or see --trust")]
        end
      end
    end
  end
end
