# frozen_string_literal: true

require "test_helper"
require "larder/lab/sessions/http"

module Larder
  module Lab
    module Sessions
      # Against a real socket that answers as servers do.
      class HttpTest < ActiveSupport::TestCase
        test "a body of a known length and one in chunks are read to their ends, over one connection" do
          answers = ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                     "HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n" \
                     "0123456789\r\n0\r\n\r\n",
                     "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"]
          asked = serving(answers) do |http|
            assert_equal([[200, 5], [404, 13], [200, 0]], ["a=1", nil, "b=2"].map { |cookie| get(http, cookie) })
          end
          assert_equal ["Cookie: a=1\r\n", nil, "Cookie: b=2\r\n"], asked.map { |request| request[/^Cookie:.*\n/] }
          assert_match(%r{\AGET /page HTTP/1.1\r\nHost: 127.0.0.1:\d+\r\n}, asked.first)
        end

        test "an answer that breaks off is told, and so is one of unknown length" do
          { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel" => /closed before the answer ended/,
            "HTTP/1.1 200 OK\r\n" => /closed before the answer ended/,
            "content-length: 5\r\n\r\nhello" => /an answer that begins with "content-length/,
            "HTTP/1.1 200 OK\r\nServer: x\r\n\r\nhello" => /an answer without a length/ }.each do |answer, message|
            serving([answer]) do |http|
              assert_match(message, assert_raises(Http::Broken) { http.get("/page") }.message)
            end
          end
        end

        test "after a broken answer the next request goes over a new connection" do
          server = TCPServer.new("127.0.0.1", 0)
          answers = ["200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"]
          thread = Thread.new { answers.each { |answer| answer_once(server, answer) } }
          http = Http.new("127.0.0.1", server.addr[1])
          assert_raises(Http::Broken) { http.get("/page") }
          assert_equal [200, 2], get(http, nil)
        ensure
          http&.close
          thread&.join
          server&.close
        end

        private

        def answer_once(server, answer)
          socket = server.accept
          socket.gets("\r\n\r\n")
          socket.write(answer)
          socket.close
        end

        def get(http, cookie)
          answer = http.get("/page", cookie)
          [answer.status, answer.bytes]
        end

        # Answers what was asked.
        def serving(answers)
          server = TCPServer.new("127.0.0.1", 0)
          thread = Thread.new do
            socket = server.accept
            answers.map { |answer| socket.gets("\r\n\r\n").tap { socket.write(answer) } }
          ensure
            socket&.close
          end
          http = Http.new("127.0.0.1", server.addr[1])
          yield http
          thread.value
        ensure
          http&.close
          server.close
        end
      end
    end
  end
end
