# frozen_string_literal: true

require "support/dashboard_case"

module Larder
  class Dashboard
    # Only forms of the dashboard's own pages change something.
    class FormTokenTest < DashboardCase
      setup { cache.set("a", "1") }

      def refused(pattern, **given)
        send_form("delete", key: "a", **given)
        assert_equal 403, last_response.status
        assert_match pattern, last_response.body
        assert cache.exist?("a")
      end

      test "a form of a page is accepted" do
        page("delete", key: "a")
        assert_equal 200, send_form("delete", key: "a").status
        refute cache.exist?("a")
      end

      test "the cookie is for these pages only, and no script reads it" do
        page("delete", key: "a")
        assert_match(%r{\Alarder_dashboard=\h{32}; path=/larder; HttpOnly; SameSite=Strict\z},
                     last_response.headers["set-cookie"])
        page("delete", key: "a")
        assert_nil last_response.headers["set-cookie"]
        clear_cookies
        get("/larder/delete?key=a", {}, "HTTPS" => "on")
        assert_match(/; Secure\z/, last_response.headers["set-cookie"])
        page
        assert_nil last_response.headers["set-cookie"]
      end

      test "a form without a token, or with another, is refused" do
        page("delete", key: "a")
        good = token_of(last_response.body)
        [nil, "", "0" * 64, "#{good.upcase}0", good[0..-2]].each { |token| refused(/too old/, token: token) }
        assert_equal 200, send_form("delete", key: "a", token: good).status
      end

      test "a form without the cookie, or with that of another browser, is refused" do
        page("delete", key: "a")
        good = token_of(last_response.body)
        clear_cookies
        refused(/no cookie/, token: good)
        page("delete", key: "a")
        refused(/too old/, token: good)
        clear_cookies
        set_cookie("larder_dashboard=short")
        refused(/no cookie/, token: good)
      end

      test "a form of another site is refused" do
        page("delete", key: "a")
        good = token_of(last_response.body)
        [{ "HTTP_ORIGIN" => "http://evil.example" }, { "HTTP_ORIGIN" => "null" },
         { "HTTP_ORIGIN" => "https://example.org" }, { "HTTP_SEC_FETCH_SITE" => "cross-site" },
         { "HTTP_SEC_FETCH_SITE" => "same-site" }, { "HTTP_SEC_FETCH_SITE" => "none" },
         { "HTTP_ORIGIN" => "http://example.org", "HTTP_SEC_FETCH_SITE" => "cross-site" }].each do |env|
          refused(/another site/, token: good, env: env)
        end
        send_form("delete", key: "a", token: good, env: { "HTTP_SEC_FETCH_SITE" => "same-origin" })
        assert_equal 200, last_response.status
      end

      test "behind a proxy that ends TLS, a form without Sec-Fetch-Site needs X-Forwarded-Proto" do
        page("delete", key: "a")
        good = token_of(last_response.body)
        origin = { "HTTP_ORIGIN" => "https://example.org", "HTTP_X_FORWARDED_HOST" => "example.org" }
        refused(/It was sent from another site/, token: good, env: origin)
        send_form("delete", key: "a", token: good, env: { **origin, "HTTP_X_FORWARDED_PROTO" => "https" })
        assert_equal 200, last_response.status
      end

      test "a process that has the same file accepts the form, and after the file was replaced none does" do
        page("delete", key: "a")
        good = token_of(last_response.body)
        @mounted = nil # as in another process
        assert_equal 200, send_form("delete", key: "a", token: good).status
        cache.resize(4 << 20)
        cache.set("a", "1")
        refused(/too old/, token: good)
      end

      test "a form after the file was removed is answered by what is the case" do
        page("delete", key: "a")
        File.delete(path_of)
        assert_equal 200, send_form("delete", key: "a").status
        assert_match(/There is no file yet/, last_response.body)
        refute_path_exists path_of
      end

      test "reading pages deletes nothing" do
        ["delete?key=a", "clear?by=all", "clear?by=prefix&text=a"].each do |path|
          get("/larder/#{path}")
          head("/larder/#{path}")
        end
        assert cache.exist?("a")
      end
    end
  end
end
