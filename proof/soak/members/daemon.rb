# frozen_string_literal: true

require "rbconfig"
require_relative "../member"

module Soak
  module Members
    # A process that replaces itself by exec(2) now and then, with the cache open, as servers do when they restart in
    # place. Nothing of the cache may be open in what comes after.
    class Daemon < Member
      AGAIN = File.expand_path("../again.rb", __dir__)
      LIB = File.expand_path("../../../lib", __dir__)

      # Works for a while, then begins again as a new program.
      def play
        look_for_leftovers
        @cache, @store = @setting.open
        worker = worker(@cache, @store) || return
        worker.inherit
        worker.work(2 + (@random.rand * 10))
        worker.leave
        return if over?

        @cache.close if @random.rand(2).zero?
        @book.add(Book::EXECS)
        exec(RbConfig.ruby, "-rbundler/setup", "-I#{LIB}", AGAIN, @setting.to_json, next_seed.to_s)
      end

      private

      def look_for_leftovers
        left = Dir.children("/proc/self/fd").filter_map do |number|
          File.readlink("/proc/self/fd/#{number}")
        rescue Errno::ENOENT
          nil
        end
        left.select! { |target| target.start_with?(@setting.path) }
        @book.wrong("open after exec: #{left.join(", ")}") unless left.empty?
      end
    end
  end
end
