# frozen_string_literal: true

# bin/demo for tests: started as somebody starts it, and ended by Ctrl-C.

require "support/recipes"
require "io/wait"
require "socket"

module Demo
  include Processes

  private

  def demo
    File.join(RecipesFiles::ROOT, "bin/demo")
  end

  def variables
    @variables ||= RecipesFiles.storage_in(path_of("storage"))
  end

  # Starts it in a group of its own, which gets what a terminal sends when Ctrl-C is pressed.
  def during_demo(*options)
    reader, writer = IO.pipe
    pid = Process.spawn(variables, RbConfig.ruby, demo, "--workers", "2", *options, %i[out err] => writer, pgroup: true)
    writer.close
    said = read_until(reader, /Ctrl-C/)
    yield said[%r{http://127\.0\.0\.1:\d+}], said
    Process.kill(:INT, -pid)
    assert_match(/Ended\. What was kept is in #{Regexp.escape(path_of("storage"))}/, reader.read)
    assert_predicate wait_for(pid), :success?
    pid = nil
  ensure
    end_group(pid) if pid
    reader&.close
  end

  # The default port is for one test at a time: another demo may take it between the look and the start.
  def own_port
    ["--port", TCPServer.open("127.0.0.1", 0) { |server| server.addr[1].to_s }]
  end

  def end_group(pid)
    Process.kill(:KILL, -pid)
    Process.wait(pid)
  end

  def read_until(reader, text)
    said = +""
    until said.match?(text)
      reader.wait_readable(Processes::LONGEST) || flunk("nothing more was said for a minute after: #{said}")
      said << (reader.read_nonblock(4096, exception: false) || flunk("it ended, saying: #{said}"))
    end
    said
  end
end
