# frozen_string_literal: true

# A page as a server sent it, and the same without tokens, ids of requests and times, which differ between two runs.

module Foreign
  # One answer to a request.
  class Page
    # Patterns of text that may differ, and replacements. Longer forms of times come first.
    VARYING = [
      [/(name="(?:authenticity_token|csrf-token)"[^>]*(?:value|content)=")[^"]*/, "\\1TOKEN"],
      [/((?:value|content)=")[^"]*("[^>]*name="(?:authenticity_token|csrf-token)")/, "\\1TOKEN\\2"],
      [/\b(nonce|data-request-id)="[^"]*"/, "\\1=\"ONCE\""],
      [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?/, "TIME"],
      [/(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d? [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \S+/, "TIME"],
      [%r{\d\d/\d\d/\d{4} \d\d:\d\d [AP]M}, "TIME"],
      [/\b\d\d:\d\d [AP]M/, "TIME"],
      [/\b(?:just now|(?:less than |about |almost |over )?(?:an?|\d+) (?:second|minute|hour)s?)\b(?: ago)?/, "AGE"]
    ].freeze

    # Characters of a line that are shown, and those of them before the first that differs.
    SHOWN = 240
    BEFORE = 80
    private_constant :SHOWN, :BEFORE

    # @return [Integer] status of HTTP
    attr_reader :status

    # @return [String] its body, as text where it is text
    attr_reader :body

    # @return [String] type of its body, without a charset; empty: none
    attr_reader :type

    # @return [String] where it redirects to, without the server; empty: nowhere
    attr_reader :location

    # @return [Array<String>] names of the cookies that it sets
    attr_reader :cookies

    # @param status [Integer]
    # @param body [String]
    # @param type [String]
    # @param location [String]
    # @param cookies [Array<String>]
    def initialize(status:, body: "", type: "", location: "", cookies: [])
      @status = status
      @body = body.dup.force_encoding(Encoding::UTF_8).scrub
      @type = type[/\A[^;]*/].strip
      @location = location.sub(%r{\Ahttps?://[^/]+}, "")
      @cookies = cookies.sort
    end

    # @return [String, nil] the token that forms of this page send back
    def token
      body[/name="csrf-token"[^>]*content="([^"]+)"/, 1] || body[/content="([^"]+)"[^>]*name="csrf-token"/, 1] ||
        body[/name="authenticity_token"[^>]*value="([^"]+)"/, 1]
    end

    # @param varying [Array<Array(Regexp, String)>] what else may differ, and its replacement
    # @return [Array<String>] lines that are the same for two servers that work alike
    def lines(varying = [])
      text = ["status #{status}", "type #{type}", "location #{location}", body].join("\n")
      [*VARYING, *varying].reduce(text) { |all, (pattern, by)| all.gsub(pattern, by) }.lines(chomp: true)
    end

    # @param other [Page]
    # @param varying [Array<Array(Regexp, String)>] see {#lines}
    # @return [Array(String, String), nil] the first lines that differ; nil: the pages are equal
    def difference(other, varying = [])
      mine = lines(varying)
      its = other.lines(varying)
      place = (0...[mine.size, its.size].max).find { |index| mine[index] != its[index] }
      place && shown(mine[place].to_s, its[place].to_s)
    end

    private

    # Long lines are cut around the first character that differs.
    def shown(*lines)
      start = (0...lines.map(&:size).max).find { |index| lines.first[index] != lines.last[index] }
      from = [start - BEFORE, 0].max
      lines.map { |line| line[from, SHOWN].to_s.strip }
    end
  end
end
