# frozen_string_literal: true

# A Rack application with Larder's sessions in each place where they can be: in the file, in the file with a copy in
# Redis, and in Redis or memcached.

require "rack/mock"
require "rack/session/larder"
require "support/servers"

module SessionPlaces
  # name => options, of a test
  PLACES = {
    "in the file"             => ->(_) { {} },
    "with backed_by: Redis"   => ->(test) { { backed_by: [:redis_cache_store, { url: test.url_of("redis") }] } },
    "with cache: Redis"       => ->(test) { { cache: [:redis_cache_store, { url: test.url_of("redis") }] } },
    "with cache: memcached"   => lambda do |test|
      { cache: [:mem_cache_store, test.url_of("memcached"), { protocol: :meta }] }
    end,
    "with cache: a FileStore" => ->(test) { { cache: [:file_store, test.path_of("store")] } }
  }.freeze

  # A browser, as far as cookies go: it keeps the cookie of the answer that comes last.
  class Browser
    attr_accessor :cookie

    # @param application [#call]
    # @yieldparam request [Rack::Request]
    # @return [Rack::MockResponse]
    def get(application, &does)
      take(answer(application, &does))
    end

    # Sends a request, whose answer has not come yet.
    def answer(application, &does)
      Rack::MockRequest.new(application).get("/", { "HTTP_COOKIE" => cookie, "test.does" => does }.compact)
    end

    def take(answer)
      self.cookie = Array(answer["set-cookie"]).join("\n")[/\A[^;\n]+/] || cookie
      answer
    end

    def dup
      super.tap { |copy| copy.cookie = cookie.dup }
    end
  end

  # Defines a test for each place.
  module Each
    def in_each_place(name, &body)
      PLACES.each do |place, options|
        test("#{name}, #{place}") do
          in_place(options)
          instance_exec(&body)
        end
      end
    end
  end

  def self.included(test)
    test.extend(Each)
  end

  def url_of(name)
    (TestServers.endpoint(name) || skip("#{name} is not installed"))["url"]
  end

  private

  def in_place(options)
    @place = options.call(self)
    @place.each_value { |store| ActiveSupport::Cache.lookup_store(*store).clear }
  end

  # An application that does what each request says.
  def application(**options)
    place = @place
    place = { file: path_of("sessions.larder"), size: 2 << 20, **place } unless place.key?(:cache) && file_store?(place)
    Rack::Session::Larder.new(lambda do |env|
      [200, {}, [env["test.does"].call(Rack::Request.new(env)).to_s]]
    end, { ephemeral: true, **place, **options })
  end

  def file_store?(place)
    place[:cache].first == :file_store
  end
end
