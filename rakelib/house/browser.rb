# frozen_string_literal: true

# Opens pages in a headless Chromium and records what they request and what goes wrong in them. The gem ferrum starts,
# drives and ends the browser, because the DevTools protocol is more than a repository of caches should implement.

begin
  require "ferrum"
rescue LoadError
  nil # only the newest stack of this Ruby has it; Browser.missing says so
end
require "timeout"

module House
  # One tab of a browser.
  class Browser
    PROGRAMS = %w[chromium chromium-browser google-chrome chrome].freeze
    TIMEOUT_SECONDS = 60
    OPTIONS = { headless: "new", timeout: TIMEOUT_SECONDS, process_timeout: TIMEOUT_SECONDS,
                browser_options: { "no-sandbox" => nil, "disable-gpu" => nil } }.freeze
    LOGS = { "Log.entryAdded" => ["entry", "text"], "Runtime.exceptionThrown" => ["exceptionDetails", "text"],
             "Runtime.consoleAPICalled" => ["args"] }.freeze
    private_constant :OPTIONS, :LOGS

    # What a page's script raised.
    class Error < StandardError; end

    # @return [String, nil] why there is no browser on this machine (nil: there is one)
    def self.missing
      return "the gem ferrum is not in this Gemfile" unless defined?(Ferrum)

      "no Chromium is installed (Debian: apt-get install chromium)" unless program
    end

    # @return [String, nil] path of a browser on this machine
    def self.program
      PROGRAMS.product(ENV.fetch("PATH", "").split(":")).map { |name, dir| File.join(dir, name) }
              .find { |path| File.executable?(path) }
    end

    # Opens a browser for the time of the block.
    # @yieldparam tab [Browser]
    def self.open
      tab = start
      yield tab
    ensure
      tab&.close
    end

    # @return [Browser] the first tab of a browser that runs until its #close
    def self.start
      raise Error, missing if missing

      new(Ferrum::Browser.new(browser_path: program, **OPTIONS))
    end

    # @return [Array<String>] what the page's console holds
    attr_reader :complaints

    # @param browser [Ferrum::Browser]
    def initialize(browser)
      @browser = browser
      @page = browser.create_page
      @complaints = []
      @loads = Queue.new
      @page.on("Page.loadEventFired") { @loads << true }
      LOGS.each { |event, path| @page.on(event) { |details| @complaints << details.dig(*path).to_s } }
    end

    # @return [Browser] another tab of the same browser
    def new_tab
      Browser.new(@browser)
    end

    # @param path [String] of a file, or the address of a page
    # @param width [Integer] CSS pixels
    # @param height [Integer]
    # @param scheme [String] "light" or "dark"
    # @param media [String] "screen" or "print"
    # @param density [Numeric] device pixels for one of CSS
    # @return [void]
    def visit(path, width: 1280, height: 900, scheme: "light", media: "screen", density: 1)
      @page.set_viewport(width: width, height: height, scale_factor: density, mobile: width < 600)
      command("Emulation.setEmulatedMedia", media: media, features: [{ name: "prefers-color-scheme", value: scheme }])
      @complaints.clear
      @page.network.clear(:traffic)
      follow { @page.go_to(path.match?(%r{\Ahttps?://}) ? path : "file://#{File.expand_path(path)}") }
    end

    # Waits until another page is loaded.
    # @yield does what leads to it
    # @return [void]
    def follow
      @loads.clear
      yield
      wait_until_loaded
    end

    # @return [void]
    def wait_until_loaded
      Timeout.timeout(TIMEOUT_SECONDS) { @loads.pop }
    end

    # @param expression [String] of JavaScript
    # @return [Object] its value, as JSON has it; of a promise, that which it is resolved with
    # @raise [Error]
    def evaluate(expression)
      answer = command("Runtime.evaluate", expression: expression, returnByValue: true, awaitPromise: true)
      raise Error, answer["exceptionDetails"].to_s if answer["exceptionDetails"]

      answer.dig("result", "value")
    end

    # @return [Array<String>] addresses that the page asked for, itself excepted
    def requests
      @page.network.traffic.map(&:url).drop(1)
    end

    # @param method [String] of the DevTools protocol
    # @return [Hash]
    def command(method, **parameters)
      @page.command(method, **parameters)
    end

    # @return [Ferrum::Page] for pictures
    attr_reader :page

    # Ends the browser with all tabs.
    # @return [void]
    def close
      @browser.quit
    end
  end
end
