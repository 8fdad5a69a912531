# frozen_string_literal: true

require "digest"
require "larder/sessions"
require "larder/sessions/backends/file"

# Sessions in a file, under a clock of the test, and the questions about them.
module CountedSessions
  extend ActiveSupport::Concern
  include TemporaryCaches

  included do
    setup do
      @now = 1_900_000_000
      @reports = []
      use_file("test.larder")
    end

    teardown { assert_empty @reports }
  end

  private

  def use_file(name, **options)
    @repository = repository(Larder::Sessions::Backends::File.new(open_cache(name, size: 4 << 20)), **options)
    @statistics = Larder::Sessions::Statistics.new(@repository)
    recounted
  end

  # After that nothing is to be corrected for an hour.
  def recounted
    @repository.repair_counts.join
    @now += 60 # the file is looked at once a minute
  end

  def repository(backend, **options)
    Larder::Sessions::Repository.new(backend: backend, format: Larder::Sessions::Format::Json,
                                     report: @reports.method(:<<), clock: -> { @now }, **options)
  end

  def key(name)
    Digest::SHA256.digest(name)
  end

  def enter(name, user, more = {})
    assert @repository.begin(key(name), { "user_id" => user, **more })
  end

  def use(name, more = {})
    found = @repository.find(key(name))
    assert @repository.commit(found, found.values.merge(more))
  end

  def active(last, signed_in = nil)
    @statistics.active(last: last, signed_in: signed_in)
  end

  # @return [Array(Integer, Integer, Integer)] sessions, of them signed in, and anonymous
  def alive
    @statistics.stats.values_at(:sessions, :signed_in, :anonymous)
  end
end
