# frozen_string_literal: true

# Writes the commands that messages propose, as this user can run them on this machine.

require "etc"
require "shellwords"

module Larder
  # @api private
  module Remedy
    module_function

    # @param command [String]
    # @return [String] the same for root: without sudo where this is root; where there is no sudo, after "run as root: "
    def as_root(command)
      return command if Process.euid.zero?

      command?("sudo") ? "sudo #{command}" : "run as root: #{command}"
    end

    # @param uid [Integer]
    # @param command [String]
    # @return [String] the same for another user
    def as_user(uid, command)
      name = user(uid)
      if command?("sudo") then "sudo -u #{name == uid.to_s ? "'##{uid}'" : name} #{command}"
      elsif !Process.euid.zero? then "run as #{name}: #{command}"
      elsif name == uid.to_s then "setpriv --reuid=#{uid} --regid=#{uid} --clear-groups #{command}"
      elsif command?("runuser") then "runuser -u #{name} -- #{command}"
      else "su -s /bin/sh #{name} -c #{Shellwords.escape(command)}"
      end
    end

    # @param name [String]
    # @return [Boolean] true if a shell would find the program
    def command?(name)
      ENV.fetch("PATH", "").split(File::PATH_SEPARATOR).any? { |place| File.executable?(File.join(place, name)) }
    end

    # @param uid [Integer]
    # @return [String] the user's name, or the number where the user has none, as in containers
    def user(uid)
      Etc.getpwuid(uid)&.name || uid.to_s
    rescue ArgumentError
      uid.to_s
    end

    # @param path [String]
    # @return [String] escaped for a shell
    def quoted(path)
      Shellwords.escape(shown(path))
    end

    # @param text [String] a path may have bytes of any kind
    # @return [String] in valid UTF-8
    def shown(text)
      text.dup.force_encoding(Encoding::UTF_8).scrub do |bytes|
        bytes.unpack("C*").map { |byte| format("\\x%02X", byte) }.join
      end
    end
  end
end
