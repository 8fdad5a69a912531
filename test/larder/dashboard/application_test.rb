# frozen_string_literal: true

require "support/dashboard_case"
require "nokogiri"

module Larder
  class Dashboard
    # Paths, methods and headers.
    class ApplicationTest < DashboardCase
      test "each page of the table answers, below the mount and without one" do
        cache.set("a", "1")
        Pages::TABLE.each do |row|
          get("/larder/#{row.path}", key: "a")
          assert_includes [200, 404], last_response.status, row.path
          assert_match(/<nav aria-label="Dashboard">.*href="\/larder\/keys"/, last_response.body)
        end
        get("/larder")
        assert_equal 200, last_response.status
        bare = Rack::MockRequest.new(Rack::Lint.new(Dashboard.new(**settings)))
        assert_match(%r{href="/keys"}, bare.get("/").body)
      end

      test "pages may be had from nowhere else, kept nowhere, and run no code of others" do
        page
        headers = last_response.headers
        policy = headers["content-security-policy"]
        assert_match(/default-src 'none'; .*script-src 'self'.*form-action 'self'.*frame-ancestors 'none'/, policy)
        refute_match(/unsafe|\*|https?:/, policy)
        assert_equal %w[nosniff DENY same-origin no-store],
                     headers.values_at("x-content-type-options", "x-frame-options", "referrer-policy", "cache-control")
        refute_match(/ (style|on\w+)=|<style|javascript:|https?:/, last_response.body)
      end

      test "pages are valid HTML, also with keys that are not text" do
        [HOSTILE, "\xff\x00\u202e".b].each { |key| cache.set(key, key) }
        use(values: true)
        paths = Pages::TABLE.map(&:path) +
                ["entry?key=absent", "clear?by=all", "clear?by=prefix&text=<", "keys?sort=ttl", "keys?sort=<",
                 "entry?key=#{Rack::Utils.escape(HOSTILE)}"]
        paths.each do |path|
          get("/larder/#{path}")
          assert_empty Nokogiri::HTML5(last_response.body, max_errors: 10).errors.map(&:to_s), path
        end
      end

      test "assets have names of their content, and are kept for ever" do
        html = page
        names = html.scan(%r{(?:href|src)="(/larder/assets/[^"]+)"}).flatten
        assert_equal(%w[css svg js], names.map { |name| name[/\w+\z/] })
        names.each do |name|
          get(name)
          assert_equal 200, last_response.status
          assert_match(/max-age=31536000, immutable/, last_response.headers["cache-control"])
          assert_match(/-\h{16}\./, name)
          refute_match(%r{https?://(?!www\.w3\.org/2000/svg)}, last_response.body)
        end
        %w[assets/ assets/dashboard.css assets/../dashboard.rb assets/%2e%2e/html.rb].each do |path|
          get("/larder/#{path}")
          assert_equal 404, last_response.status, path
        end
      end

      test "other paths and methods are refused" do
        get("/larder/absent")
        assert_equal [404, "There is no such page\n"], [last_response.status, last_response.body]
        %i[put delete patch options].each do |method|
          send(method, "/larder/")
          assert_equal [405, "GET, HEAD, POST"], [last_response.status, last_response.headers["allow"]]
        end
        post("/larder/keys")
        assert_equal 405, last_response.status
      end

      test "HEAD answers without a body" do
        head("/larder/")
        assert_equal [200, ""], [last_response.status, last_response.body]
      end

      test "parameters of any kind are answered" do
        ["pattern=%ff%00", "pattern[]=a", "pattern[a]=b", "from=1e9", "sort=x", "pattern=%", "a=1&a[b]=2",
         "key=#{"a" * 5000}", "text=&by=prefix", "by=%00"].each do |query|
          %w[keys entry delete clear].each do |path|
            env = Rack::MockRequest.env_for("/larder/#{path}").merge("QUERY_STRING" => query)
            status, _, body = app.call(env)
            body.close if body.respond_to?(:close)
            assert_operator status, :<, 500, "#{path}?#{query}"
          end
        end
      end

      test "cookies, forms and headers of any kind are answered" do
        ["=\xff\xfe", "=#{"a" * 8000}", "[]=1", "=%ff; %ff=%ff; ;;="].each do |rest|
          cookie = "larder_dashboard#{rest}"
          assert_answered("GET", { "HTTP_COOKIE" => cookie })
          assert_answered("POST", { "HTTP_COOKIE" => cookie }, input: "token=a")
        end
        ["token=#{"a" * 100_000}", "--x\r\nContent-Disposition: form-data; name=\"token\"", "a[b]=1&a=2", "%ff[=%",
         "a#{"[b]" * 200}=1"].each do |form|
          ["multipart/form-data; boundary=x", "multipart/form-data; boundary=\"", "text/plain", "\xff",
           "application/x-www-form-urlencoded"].each do |type|
            assert_answered("POST", { "CONTENT_TYPE" => type }, input: form)
          end
        end
        [["HOST", "\"><script>"], ["HOST", "a:99999"], ["X_FORWARDED_HOST", "\"><script>,x"], ["ORIGIN", "\xff"],
         ["X_FORWARDED_PROTO", "javascript"], ["X_FORWARDED_PORT", "x"], ["FORWARDED", "host=\"\\"],
         ["SEC_FETCH_SITE", "\xff"], ["AUTHORIZATION", "Basic \xff"]].each do |name, text|
          assert_answered("GET", { "HTTP_#{name}" => text })
          cookie = "larder_dashboard=#{"0" * 32}"
          assert_answered("POST", { "HTTP_COOKIE" => cookie, "HTTP_#{name}" => text }, input: "a=1")
        end
      end

      test "paths of any kind are absent, and lead to no file" do
        %w[/.. /..%2f /%2e%2e/ /%00 /%ff /%c0%ae /keys%00 /keys/.. /entry/x /KEYS /keys.json /keys;x=1 /sessions//user
           /assets//etc/passwd /assets/%2e%2e%2fhtml.rb /assets/../../../../etc/passwd /\\..\\keys ///].each do |path|
          [path, Rack::Utils.unescape_path(path)].each do |given|
            status, _, body = Dashboard.new(**settings).call(Rack::MockRequest.env_for("/").merge("PATH_INFO" => given))
            assert_equal [404, "There is no such page\n"], [status, body.join], given.inspect
          end
        end
      end

      test "the class is an application, of Rails.cache" do
        with_environment("RACK_ENV" => "development") do
          answer = Rack::MockRequest.new(Rack::Lint.new(Dashboard)).get("/")
          assert_equal 200, answer.status
          assert_match(/There is no Rails\.cache|is not a Larder store|There is no cache/, answer.body)
        end
      end

      private

      # Without Rack::Lint, which refuses some of these requests: a server may pass them on.
      def assert_answered(method, headers, input: "")
        %w[delete?key=a clear sessions/end?user=1 keys?pattern=a].each do |path|
          env = Rack::MockRequest.env_for("/#{path}", method: method, input: input.b)
          headers.each { |name, text| env[name] = text.b } # as servers give them
          status, _, body = Dashboard.new(**settings).call(env)
          assert_operator status, :<, 500, [path, headers].inspect
          refute_match(/<script>/, body.join)
        end
      end
    end
  end
end
