# frozen_string_literal: true

# What players/daemon.rb replaces itself by. Arguments: the setting, a seed.

require_relative "players/daemon"

setting = Soak::Setting.parse(ARGV.fetch(0))
setting.begin_process
Soak::Player.guard(setting) { Soak::Players::Daemon.new(setting, Integer(ARGV.fetch(1))).play }
