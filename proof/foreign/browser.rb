# frozen_string_literal: true

# A browser of one user on one side: cookies, tokens of forms, and patience while a server restarts.

require "net/http"
require "uri"
require_relative "../../lib/larder/bytes/monotonic_clock"
require_relative "page"

module Foreign
  # One user's browser. Threads may share it, as the requests of one page do.
  class Browser
    include Larder::MonotonicClock

    HOST = "foreign.test"
    PATIENCE = 660 # seconds: a restart may take Server::START_SECONDS
    PAUSE = 0.25
    REFUSED = [Errno::ECONNREFUSED].freeze
    CUT = [EOFError, Errno::ECONNRESET, Errno::EPIPE, Net::OpenTimeout, Net::ReadTimeout].freeze

    # A page did not come within PATIENCE.
    class GaveUp < StandardError; end

    # @return [Integer] requests that a dying server cut off, and that were sent again
    attr_reader :cut

    # @param ports [#call] answers the ports of the servers that may be asked now
    # @param random [Random] chooses among them
    # @param headers [#call] answers a Hash of headers for each request
    def initialize(ports, random: Random.new(1), headers: -> { {} })
      @ports = ports
      @random = random
      @headers = headers
      @jar = {}
      @lock = Mutex.new
      @token = nil
      @cut = 0
    end

    # @param path [String]
    # @return [Page]
    def get(path)
      request(Net::HTTP::Get.new(path))
    end

    # Sends a form with the token of the last page. A request that may have been carried out is not sent again.
    #
    # @param path [String]
    # @param form [Hash{String => String}]
    # @return [Page]
    def post(path, form)
      request = Net::HTTP::Post.new(path)
      request.set_form_data({ "authenticity_token" => @token.to_s, **form })
      request(request, again: REFUSED)
    end

    # @return [Array<String>] names of its cookies
    def cookies
      @lock.synchronize { @jar.keys.sort }
    end

    private

    def request(request, again: REFUSED + CUT)
      @headers.call.each { |name, value| request[name] = value }
      request["Host"] = HOST
      request["Cookie"] = @lock.synchronize { @jar.map { |name, value| "#{name}=#{value}" }.join("; ") }
      keep(patiently(again) { |port| send_to(port, request) })
    end

    def patiently(errors)
      deadline = monotonic_now + PATIENCE
      begin
        ports = @ports.call
        raise Errno::ECONNREFUSED, "no server" if ports.empty?

        yield ports[@lock.synchronize { @random.rand(ports.size) }]
      rescue *errors => e
        raise GaveUp, "no answer for #{PATIENCE} s: #{e.message}" if monotonic_now > deadline

        @lock.synchronize { @cut += 1 } unless e.is_a?(Errno::ECONNREFUSED)
        sleep(PAUSE)
        retry
      end
    end

    # Without attempts of its own: Net::HTTP repeats a GET silently.
    def send_to(port, request)
      Net::HTTP.start("127.0.0.1", port, open_timeout: 5, read_timeout: 60, max_retries: 0) do |http|
        http.request(request)
      end
    end

    def keep(response)
      names = @lock.synchronize { (response.get_fields("Set-Cookie") || []).map { |cookie| take(cookie) } }
      page = Page.new(status: Integer(response.code), body: response.body.to_s, type: response["Content-Type"].to_s,
                      location: response["Location"].to_s, cookies: names)
      @token = page.token || @token
      page
    end

    # A cookie that is empty or of the past is removed.
    def take(cookie)
      name, value = cookie[/\A[^;]*/].split("=", 2)
      gone = value.to_s.empty? || cookie.match?(/;\s*(?:max-age=0|expires=Thu, 01 Jan 1970)/i)
      gone ? @jar.delete(name) : @jar[name] = value
      name
    end
  end
end
