# frozen_string_literal: true

# The base of the processes that measure a session store: prepares the store, loads sessions into it unless an earlier
# process did, and verifies that it keeps them. Started by Sessions::Rounds; never loaded by the command itself.

require "json"
require_relative "../answers"
require_relative "../clock"
require_relative "../errors"
require_relative "../job"
require_relative "stores"

module Larder
  module Lab
    module Sessions
      # A subclass implements {#start}, which makes @stack, and {#measure}.
      class Worker
        include Answers
        include Clock

        # Sessions that must come back before anything is measured.
        PROOFS = 20
        # Sessions that begin at once where a store can do many together.
        TOGETHER = 1000
        # Sessions that requests are for: those of a popular minute.
        POPULAR = 1000
        # What a session's user is called.
        FIRST_USER = 1000

        # Does the job.
        # @return [void]
        def self.main
          Job.begin(self)
        end

        # @return [void]
        def run
          answering do
            @store = registry.fetch(@job["store"])
                             .new(dir: @job["dir"], endpoint: @job["endpoint"], space: @job["space"])
            load_code
            load_sessions
            prove
            emit("ready", versions: versions, options: @store.recorded)
            measure
            {}
          end
        end

        private

        attr_reader :store, :stack

        # What the store's name is looked up in.
        def registry
          Stores
        end

        # Cookies of the sessions, by their number.
        attr_reader :cookies

        # What it takes is looked for where it is first needed: without it there is a row that says so.
        def load_code
          store.open
          require_relative "stack"
          start
        rescue LoadError => error
          raise Unavailable, "its gems are not all there: lab/gemfiles/#{store.class.bundle}.gemfile names them " \
                             "(#{error.message})"
        end

        def options
          { key: Stack::KEY, **store.options }
        end

        # Those that an earlier process loaded, or new ones.
        def load_sessions
          @cookies = JSON.parse(File.read(list)) if store.lasting? && File.exist?(list)
          return if @cookies

          started = now
          users = Array.new(store.keeps? ? @job["sessions"] : [@job["sessions"], POPULAR].min) { |number| user(number) }
          @cookies = users.each_slice(TOGETHER).flat_map { |some| store.fill(stack, some) }
          emit("loaded", sessions: @cookies.size, seconds: now - started)
          File.write(list, JSON.generate(@cookies)) if store.lasting?
        end

        def list
          File.join(@job["dir"], "cookies.json")
        end

        def user(number)
          FIRST_USER + number
        end

        # Numbers of sessions whose users have signed in, or have not.
        def popular(signed_in:)
          numbers = (0...cookies.size).select { |number| Stack.signed_in?(user(number)) == signed_in }
          numbers.sample([POPULAR, numbers.size].min, random: random)
        end

        # Sessions are there, are changed, and new ones begin; one that nobody began is not there.
        def prove
          sample(PROOFS).each { |number| prove_session(number) }
          cookie = stack.begin_session(1)
          demand(1, stack.visit(Stack::READ, cookie).first, "a new session")
          value, = stack.visit(Stack::READ, "#{Stack::KEY}=#{"0" * 32}")
          demand(nil, value, "a session that nobody began")
        end

        def prove_session(number)
          demand(user(number), stack.visit(Stack::READ, cookies[number]).first, "session #{number}")
          _, cookie = stack.visit(Stack::CHANGE, cookies[number], 7)
          cookies[number] = cookie
          demand(7, stack.visit(Stack::SEEN, cookie).first, "session #{number} after a change")
        end

        def sample(size)
          (0...cookies.size).to_a.sample(size, random: random)
        end

        def random
          @random ||= Random.new(@job["seed"])
        end

        def demand(expected, actual, what)
          return if expected == actual

          raise Invalid, "a wrong value: #{what} has #{actual.inspect} instead of #{expected.inspect}"
        end

        def versions
          names = %w[actionpack activerecord activerecord-session_store rack rack-session puma dalli redis trilogy pg]
          found = names.to_h { |name| [name, Gem.loaded_specs[name]&.version&.to_s] }.compact
          found = found.slice("actionpack", "rack", "rack-session", *gems_in_use(found))
          found["larder"] = ::Larder::VERSION if defined?(::Larder::VERSION)
          found
        end

        # Bundler activates what its Gemfile names, needed or not.
        def gems_in_use(found)
          own = store.class.gems.keys
          own += ["activerecord"] if own.include?("activerecord-session_store")
          found.keys & own
        end
      end
    end
  end
end
