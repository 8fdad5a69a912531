# frozen_string_literal: true

# Asks the statistics of sessions, for one machine and for several.

module SessionProof
  # For classes with Larder::Sessions::Statistics in `@statistics`.
  module Questions
    # What `except:` and handles take for a request's session.
    Asked = Struct.new(:id)
    Id = Struct.new(:public_id)

    # @param id [String]
    # @return [String, nil]
    def handle(id)
      @statistics.handle_of(asked(id))
    end

    # @param user [Integer]
    # @param except [String, nil] an id
    # @return [Integer]
    def logout(user, except)
      @statistics.logout(user, except: except && asked(except))
    end

    # @return [Array<Array(String, Integer)>] handle and number of each session that the user is said to have
    def sessions_of(user)
      @statistics.for(user).map { |info| [info.handle, info["n"]] }
    end

    # @return [Boolean]
    def logged_in?(user)
      @statistics.logged_in?(user)
    end

    # @return [Integer, nil] Unix seconds
    def last_seen(user)
      @statistics.last_seen(user)&.to_i
    end

    private

    def asked(id)
      Asked.new(Id.new(id))
    end
  end
end
