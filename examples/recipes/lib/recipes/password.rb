# frozen_string_literal: true

# Stores passwords as scrypt hashes, so that nobody who reads the database learns them.

require "openssl"
require "securerandom"

module Recipes
  # Passwords, and what is kept of them: what scrypt was told, the salt, and what it made.
  module Password
    # 16 MiB of memory, five times over: a tenth of a second or more.
    COST = { N: 2**14, r: 8, p: 5 }.freeze
    LENGTH = 32
    private_constant :LENGTH

    # What no password is, for names that nobody has: an attempt takes as long for them.
    NONE = [*COST.values, "0" * 32, "0" * 64].join("$").freeze

    module_function

    # @param password [String]
    # @param cost [Hash] N, r and p of scrypt
    # @return [String] what to keep
    def digest(password, cost: COST)
      salt = SecureRandom.hex(16)
      [*cost.values_at(:N, :r, :p), salt, scrypt(password, salt, cost)].join("$")
    end

    # @param password [String]
    # @param digest [String, nil] what was kept; nil: there is none, which takes as long to find out
    # @return [Boolean]
    def correct?(password, digest)
      *cost, salt, kept = (digest || NONE).split("$")
      found = scrypt(password, salt, %i[N r p].zip(cost.map { |number| Integer(number) }).to_h)
      OpenSSL.fixed_length_secure_compare(found, kept) && !digest.nil?
    end

    def scrypt(password, salt, cost)
      OpenSSL::KDF.scrypt(password, salt: salt, length: LENGTH, **cost).unpack1("H*")
    end
    private_class_method :scrypt
  end
end
