# frozen_string_literal: true

# The executable `larder` in processes of its own, as a shell or a terminal runs it.

require "io/console"
require "open3"
require "pty"
require "rbconfig"

module Command
  PROGRAM = File.expand_path("../../exe/larder", __dir__)
  PLAIN = { "LARDER_SESSIONS" => nil, "LARDER_PATH" => nil, "LARDER_SIZE" => nil, "RAILS_ENV" => nil, "RACK_ENV" => nil,
            "RUBYOPT" => nil, "LC_ALL" => "C.UTF-8", "TZ" => "UTC" }.freeze
  # Seconds after which a terminal is given up.
  PATIENCE = 120

  # @return [Array(String, String, Integer)] what it wrote, its errors, exit code
  def larder(*arguments, env: {}, ruby: ["-w"], stdin: "", chdir: directory)
    out, err, status = Open3.capture3({ **PLAIN, **env }, RbConfig.ruby, *ruby, PROGRAM, *arguments, stdin_data: stdin,
                                                                                                   chdir: chdir)
    [out, err, status.exitstatus || status]
  end

  # @return [String] what it wrote, and nothing else
  def done(*arguments, **settings)
    out, err, code = larder(*arguments, **settings)
    assert_equal ["", 0], [err, code]
    out
  end

  # @return [Integer] exit code of what was refused, with an error like this and nothing else
  def refused(message, *arguments, **settings)
    out, err, code = larder(*arguments, **settings)
    assert_match message, err
    assert_no_match(/\.rb:\d+/, err)
    assert_empty out
    code
  end

  # In a terminal. The block waits for what it shows by {Screen#shows}, and types.
  #
  # @return [Array(String, Integer)] what was shown, exit code
  def in_terminal(*arguments, env: {}, ruby: [])
    environment = { **PLAIN, "TERM" => "xterm", **env }
    reader, writer, pid = PTY.spawn(environment, RbConfig.ruby, "-w", *ruby, PROGRAM, *arguments, chdir: directory)
    screen = Screen.new(reader, writer, pid)
    yield screen
    screen.to_its_end
    [screen.text, wait_for(pid).exitstatus]
  ensure
    reader&.close
    writer&.close
  end

  # What a terminal shows.
  class Screen
    attr_reader :text, :pid

    def initialize(reader, writer, pid)
      @reader = reader
      @writer = writer
      @pid = pid
      @device = File.readlink("/proc/#{pid}/fd/0")
      @text = +""
    end

    def type(keys)
      @writer.write(keys)
    end

    # @return [void]
    def resize(rows, columns)
      @writer.winsize = [rows, columns]
    end

    # @return [String] of stty
    def modes
      Open3.capture2("stty", "-g", "-F", @device).first
    end

    def kill(signal)
      Process.kill(signal, @pid)
    end

    # @return [Boolean] within {PATIENCE}
    def shows?(pattern)
      deadline = now + PATIENCE
      until @text.match?(pattern)
        return false if now > deadline

        read(1)
      end
      true
    end

    def to_its_end
      deadline = now + PATIENCE
      nil while now < deadline && read(1) != :end
    end

    private

    def read(seconds)
      @text << @reader.readpartial(10_000).force_encoding(Encoding::UTF_8) if @reader.wait_readable(seconds)
    rescue EOFError, Errno::EIO # a terminal's end is told so on Linux
      :end
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
