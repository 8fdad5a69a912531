# frozen_string_literal: true

# The program by which members/daemon.rb replaces itself. Arguments: the setting, a seed.

require_relative "members/daemon"

setting = Soak::Setting.parse(ARGV.fetch(0))
setting.begin_process
Soak::Member.guard(setting) { Soak::Members::Daemon.new(setting, Integer(ARGV.fetch(1))).play }
