# frozen_string_literal: true

# Breaks sessions on purpose in the processes of a run that names a bug. Each bug has to be found, or the proof proves
# nothing.

require_relative "named_faults"
require_relative "subject"

module SessionProof
  # Bugs by name. Each is a module that stands before the class it breaks.
  module FaultInjection
    extend NamedFaults

    File = Larder::Sessions::Backends::File
    Repository = Larder::Sessions::Repository
    Statistics = Larder::Sessions::Statistics
    SESSION = "s/"
    USER = "u/"
    private_constant :File, :Repository, :Statistics, :SESSION, :USER

    # A slow request's commit brings back the session that was ended meanwhile.
    module EndedComesBack
      def swap(key, expected, bytes, ttl, **options)
        outcome = super
        outcome == :gone && key.start_with?(SESSION) ? add(key, bytes, ttl, **options) : outcome
      end
    end

    # The user's session that was used first stays signed in.
    module LogoutForgetsOne
      def logout(user, except: nil)
        sessions = self.for(user)
        super(user, except: except || (sessions.last.handle if sessions.size > 1))
      end
    end

    # A session goes on under its old id as well.
    module RotationLeavesOldId
      def renew(found, ...)
        key = SESSION + found.key
        before = backend.read(key)
        done = super
        backend.add(key, before, Subject::IDLE, pin: true) if done && before
        done
      end
    end

    # Who commits last writes the whole of the session.
    module CommitLosesKeys
      def commit(found, values, **options)
        super(find(found.key) || found, values, **options)
      end
    end

    # Who cannot be kept is signed out.
    module RefusalDropsSession
      def swap(key, *rest, **options)
        outcome = super
        delete(key) if outcome == :full && key.start_with?(SESSION)
        outcome
      end
    end

    # A user's entry is taken away and written anew.
    module IndexIsRewritten
      def swap(key, expected, bytes, ttl, **options)
        return super unless key.start_with?(USER)

        cache.delete(key)
        add(key, bytes, ttl, **options)
      end
    end

    # Those who are signed in are evicted like anybody else.
    module SignedInIsEvicted
      def swap(key, expected, bytes, ttl, pin: false)
        super(key, expected, bytes, ttl, pin: pin && !key.start_with?(SESSION))
      end
    end

    ALL = {
      "ended-comes-back" => [File, EndedComesBack], "logout-forgets-one" => [Statistics, LogoutForgetsOne],
      "rotation-leaves-old-id" => [Repository, RotationLeavesOldId],
      "commit-loses-keys" => [Repository, CommitLosesKeys],
      "refusal-drops-session" => [File, RefusalDropsSession], "index-is-rewritten" => [File, IndexIsRewritten],
      "signed-in-is-evicted" => [File, SignedInIsEvicted]
    }.freeze
    private_constant :ALL
  end
end
