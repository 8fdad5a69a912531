# frozen_string_literal: true

# What the tests of codecs share: which there are here, and what is expected of bytes that cannot be read.

require "larder/codecs"
require "open3"

module CodecCase
  # lz4_flex has no binary for the Ruby of Debian bookworm.
  ELSEWHERE = RUBY_VERSION < "3.2" ? [:lz4_flex] : []

  def self.included(test)
    test.extend(ClassMethods)
  end

  module ClassMethods
    # @yieldparam name [Symbol]
    def each_compressor(&block)
      (Larder::Compressors.names - ELSEWHERE).each(&block)
    end

    # @yieldparam name [Symbol]
    def each_serializer(&block)
      Larder::Serializers.names.each(&block)
    end
  end

  def each_compressor_here(&block)
    self.class.each_compressor(&block)
  end

  # @return [Larder::Serializer] one that may be had without more words
  def serializer(name, **options)
    options = { trusted: true, **options } if name == :marshal && !options.key?(:sign_with)
    options = { schema: schema, **options } if name == :protobuf
    Larder::Serializers[name, **options]
  end

  def schema
    require "larder/codecs/serializers/protobuf_schema"
    @@schema ||= Larder::Serializers::ProtobufSchema.of(CodecValues::SCHEMA) # rubocop:disable Style/ClassVars
  end

  def assert_same_value(value, copy, name)
    message = "#{name}: #{value.inspect}"
    value.nil? ? assert_nil(copy, message) : assert_equal(value, copy, message)
    assert_equal value.class, copy.class, message
    return unless value.is_a?(String)

    assert_equal value.encoding, copy.encoding, message unless %i[json xml active_support_json].include?(name)
    assert_equal value.html_safe?, copy.html_safe?, message
  end

  # @return [ActiveSupport::Cache::DeserializationError]
  def assert_unreadable(&block)
    assert_raises(ActiveSupport::Cache::DeserializationError, &block)
  end

  def assert_message(pattern, &block)
    assert_match pattern, assert_raises(ArgumentError, &block).message
  end

  # What a program says that cannot load a gem's library.
  def without_gem(library)
    program = <<~RUBY
      require "larder/version"
      require "larder/codecs"
      module Kernel
        alias_method :whole_require, :require
        def require(name) = name == #{library.inspect} ? raise(LoadError, "cannot load such file -- \#{name}") : whole_require(name)
      end
      #{yield}
    RUBY
    Open3.capture2e(RbConfig.ruby, "-W0", "-I#{File.expand_path("../../lib", __dir__)}", "-e", program).first
  end
end
