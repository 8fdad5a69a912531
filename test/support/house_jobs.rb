# frozen_string_literal: true

require "stringio"
require "tmpdir"
require_relative "../../rakelib/house/runner"

# What tests of bin/test's runner have in common: small programs as jobs, and a directory for what they print.
module HouseJobs
  extend ActiveSupport::Concern
  include Processes

  included do
    setup do
      @logs = Dir.mktmpdir("larder-jobs")
      @out = StringIO.new
    end

    teardown { FileUtils.rm_rf(@logs) }
  end

  private

  def job(script, name: "job", kind: :counted, **options)
    House::Job.new(name, suite: "ruby", argv: ["sh", "-c", script], kind: kind, **options)
  end

  def run_jobs(*jobs, **options)
    House::Runner.new(jobs, lanes: 2, log_dir: @logs, out: @out, **options).run
  end
end
