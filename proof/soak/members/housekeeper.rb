# frozen_string_literal: true

require_relative "../member"

module Soak
  module Members
    # Verifies the file again and again while all others work on it, and does what an operator does seldom: clear,
    # prune, clean up, walk over all keys.
    class Housekeeper < Member
      # Every key that anybody stores.
      KEY = %r{\A(?:[bcfrn]/\d+/\d+|m/\d+/0(?:/r)?|common/\d+)\z}
      private_constant :KEY

      # Until told to end.
      def play
        @cache, @store = @setting.open
        me = worker(@cache, @store) || return
        @setting.reading = true
        me.inherit
        @next_clear = now + 5
        until over?
          verify
          seldom
          me.batch
          me.rest
          sleep(0.1)
        end
        me.leave
        @cache.close
      end

      private

      # A file that was cut a moment ago has problems indeed.
      def verify
        started = Book.now
        found = @cache.verify
        @book.add(Book::VERIFIES)
        return if found[:problems].zero? || @book.hostile_since?(started)

        @book.wrong("verify: #{found[:problems]} problems, the first: #{found[:first]}")
      rescue Larder::BusyError
        nil # who has the lock is stopped
      rescue Larder::DamagedError => e
        raise unless @setting.may_be_locked_out?(e)
      end

      def seldom
        case @random.rand(200)
        when 0 then @store.prune(@cache.size / 2, 2)
        when 1..3 then @store.cleanup
        when 4..5 then @cache.each_key { |key| check_key(key) }
        end
        clear if now > @next_clear
      end

      def check_key(key)
        @book.wrong("each_key yields #{key.inspect[0, 200]}") unless KEY.match?(key)
      end

      # The book is told when it began, once it was acknowledged.
      def clear
        @next_clear = now + 20 + (@random.rand * 40)
        began = Book.now
        @random.rand(2).zero? ? @cache.clear : (@store.clear || return)
        @book.raise_to(Book::CLEARED, began)
        @book.add(Book::CLEARS)
      rescue Larder::BusyError
        nil
      end
    end
  end
end
