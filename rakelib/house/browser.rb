# frozen_string_literal: true

# Owns a Chromium without a window: opens pages, tells what they asked for and what went wrong in them, measures them,
# and takes their pictures. Speaks the DevTools protocol over a pair of pipes, so that it needs no gem and no port.

require "base64"
require "fileutils"
require "io/nonblock"
require "json"
require "timeout"
require "tmpdir"

module House
  # One browser, with a tab in front.
  class Browser
    PROGRAMS = %w[chromium chromium-browser google-chrome chrome].freeze
    OPTIONS = %w[--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run
                 --disable-background-networking --disable-component-update --remote-debugging-pipe].freeze
    # Seconds for an answer.
    PATIENCE = 60

    # What the browser says that it cannot do.
    class Error < StandardError; end

    # @return [String, nil] path of a browser on this machine
    def self.program
      PROGRAMS.product(ENV.fetch("PATH", "").split(":")).map { |name, dir| File.join(dir, name) }
              .find { |path| File.executable?(path) }
    end

    # Opens a browser for the time of the block.
    # @yieldparam browser [Browser]
    def self.open
      browser = new(program || raise(Error, "no Chromium is installed (Debian: apt-get install chromium)"))
      yield browser
    ensure
      browser&.close
    end

    # @return [Array<Hash>] events of the page since it was last visited
    attr_reader :events

    # @param program [String]
    def initialize(program)
      @profile = Dir.mktmpdir("larder-browser-")
      @events = []
      @number = 0
      start(program)
      open_page
    rescue StandardError
      close if @pid
      raise
    end

    # @param path [String] of a file, or the address of a page
    # @param width [Integer] CSS pixels
    # @param height [Integer]
    # @param scheme [String] "light" or "dark"
    # @param media [String] "screen" or "print"
    # @param density [Numeric] device pixels for one of CSS
    # @return [void]
    def visit(path, width: 1280, height: 900, scheme: "light", media: "screen", density: 1)
      ask("Emulation.setDeviceMetricsOverride", width: width, height: height, deviceScaleFactor: density,
                                                mobile: width < 600)
      ask("Emulation.setEmulatedMedia", media: media, features: [{ name: "prefers-color-scheme", value: scheme }])
      @events.clear
      address = path.match?(%r{\Ahttps?://}) ? path : "file://#{File.expand_path(path)}"
      error = ask("Page.navigate", url: address)["errorText"]
      raise Error, "#{path}: #{error}" if error

      loaded
    end

    # Opens another tab, behind the one in front.
    # @return [String] names it
    def new_tab
      in_tab(nil) { open_page }
    end

    # @param tab [String, nil] which is in front for the time of the block
    # @return [Object] the block's value
    def in_tab(tab)
      before = @session
      @session = tab
      yield
    ensure
      @session = before
    end

    # Does what leads to another page, and waits until that is there.
    # @param expression [String] of JavaScript
    # @return [void]
    def follow(expression)
      @events.clear
      evaluate(expression)
      loaded
    end

    # Waits until the tab in front has loaded a page.
    # @return [void]
    def loaded
      listen until @events.any? { |event| event["method"] == "Page.loadEventFired" && event["sessionId"] == @session }
    end

    # @param expression [String] of JavaScript
    # @return [Object] its value, as JSON has it
    def evaluate(expression)
      answer = ask("Runtime.evaluate", expression: expression, returnByValue: true)
      raise Error, answer["exceptionDetails"].to_s if answer["exceptionDetails"]

      answer.dig("result", "value")
    end

    # @return [Array<String>] addresses that the page asked for, itself excepted
    def requests
      @events.filter_map do |event|
        event.dig("params", "request", "url") if event["method"] == "Network.requestWillBeSent"
      end
             .drop(1)
    end

    # @return [Array<String>] what the page's console holds
    def complaints
      @events.filter_map do |event|
        case event["method"]
        when "Log.entryAdded" then event.dig("params", "entry", "text")
        when "Runtime.exceptionThrown" then event.dig("params", "exceptionDetails", "text")
        when "Runtime.consoleAPICalled" then event.dig("params", "args").to_s
        end
      end
    end

    # @param to [String] file of the picture, in PNG
    # @param of [Hash, nil] x, y, width and height in the page, see {#place}; nil: what the window shows
    # @return [void]
    def picture(to, of: nil)
      options = of ? { captureBeyondViewport: true, clip: { scale: 1, **of } } : {}
      File.binwrite(to, Base64.decode64(ask("Page.captureScreenshot", format: "png", **options)["data"]))
    end

    # @param selector [String] of CSS
    # @param margin [Integer] CSS pixels around it
    # @return [Hash, nil] where the first such element is in the page
    def place(selector, margin: 0)
      found = evaluate(<<~JAVASCRIPT)
        (box => box && [box.x + scrollX, box.y + scrollY, box.width, box.height])(
          document.querySelector(#{JSON.generate(selector)})?.getBoundingClientRect())
      JAVASCRIPT
      return unless found

      x, y, width, height = found
      { x: x - margin, y: y - margin, width: width + (2 * margin), height: height + (2 * margin) }
    end

    # @param to [String] file of the print, in PDF
    # @return [void]
    def print(to)
      ask("Emulation.setEmulatedMedia", media: "print", features: [])
      File.binwrite(to, Base64.decode64(ask("Page.printToPDF", preferCSSPageSize: true, printBackground: true)["data"]))
    end

    # @return [void]
    def close
      @to.close unless @to.closed? # which ends it
      Timeout.timeout(10) { Process.wait(@pid) }
    rescue Timeout::Error
      Process.kill(:KILL, -@pid)
      Process.wait(@pid)
    ensure
      FileUtils.rm_rf(@profile)
    end

    # Asks the browser, or the page once there is one.
    # @param method [String]
    # @param parameters [Hash]
    # @return [Hash]
    # @raise [Error]
    def ask(method, **parameters)
      number = @number += 1
      message = { id: number, method: method, params: parameters, sessionId: @session }.compact
      @to.write("#{JSON.generate(message)}\0")
      answer = listen until answer && answer["id"] == number
      raise Error, "#{method}: #{answer["error"]["message"]}" if answer["error"]

      answer["result"]
    end

    private

    def open_page
      target = ask("Target.createTarget", url: "about:blank")["targetId"]
      @session = ask("Target.attachToTarget", targetId: target, flatten: true)["sessionId"]
      %w[Page Runtime Network Log].each { |domain| ask("#{domain}.enable") }
      @session
    end

    def start(program)
      commands, @to = IO.pipe
      @from, answers = IO.pipe
      @to.sync = true
      [commands, answers].each { |pipe| pipe.nonblock = false } # Chromium takes "try again" for the end
      @pid = Process.spawn(program, *OPTIONS, "--user-data-dir=#{@profile}", 3 => commands, 4 => answers,
                           %i[in out err] => File::NULL, pgroup: true)
      [commands, answers].each(&:close)
    end

    # @return [Hash] the next message; events are kept
    def listen
      line = Timeout.timeout(PATIENCE, Error, "the browser does not answer") { @from.gets("\0") }
      raise Error, "the browser has ended" unless line

      message = JSON.parse(line.delete_suffix("\0"))
      @events << message if message["method"]
      message
    end
  end
end
