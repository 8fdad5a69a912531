# frozen_string_literal: true

# The common part of tests of the journal, over real Redis servers that are killed and come back with old entries.

require "support/remote_case"
require "redis"

# A test case that makes stores on servers, and looks at what the servers have.
class JournalCase < RemoteCase
  private

  def on(server)
    at(server.endpoint.fetch("url"))
  end

  def at(url)
    [:redis_cache_store, { url: url, reconnect_attempts: 0, coder: Larder::Coder.new, error_handler: nil }]
  end

  # It has lost its memory; these entries are there again, as of a snapshot.
  def revive(server, entries)
    server.start
    write_on(server, entries)
  end

  def write_on(server, entries)
    plain(server).write_multi(entries)
  end

  def read_on(server, key)
    plain(server).read(key)
  end

  def exist?(server, key)
    plain(server).exist?(key)
  end

  def plain(server)
    ActiveSupport::Cache.lookup_store(on(server))
  end
end
