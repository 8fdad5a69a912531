# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/foreign/server"

module Foreign
  # A real Puma with an application whose workers take a second to boot.
  class ServerTest < ActiveSupport::TestCase
    include TemporaryDirectory

    RACKUP = <<~'RUBY'
      sleep(1)
      File.write("booted.#{Process.pid}", "")
      run ->(_) { [200, {}, [Process.pid.to_s]] }
    RUBY

    setup do
      %w[one two].each do |name|
        Dir.mkdir(path_of(name))
        File.write(File.join(path_of(name), "config.ru"), RACKUP)
      end
      @server = Server.new("tiny", copy: path_of("one"), env: {}, directory: path_of("life"))
      @server.start
    end

    teardown { @server.stop }

    test "a killed worker is replaced by one that has booted" do
      killed = @server.kill_worker
      @server.settle
      assert_not_includes @server.workers, killed
      assert_equal @server.workers.sort, booted("one") - [killed]
    end

    test "all workers of a phased restart have booted the other copy" do
      before = @server.workers
      @server.release(path_of("two"))
      @server.phased_restart
      assert_empty before & @server.workers
      assert_equal @server.workers.sort, booted("two")
    end

    private

    def booted(name)
      Dir[File.join(path_of(name), "booted.*")].map { |path| Integer(path[/\d+\z/]) }.sort
    end
  end
end
