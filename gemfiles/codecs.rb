# frozen_string_literal: true

# The codecs' gems, each of which is asked for by name: larder needs none of them. Why these: the comment in each file
# of lib/larder/codecs/{serializers,compressors}/. Read by shared.rb and by the lab's Gemfile for codecs.
group :codecs do
  gem "brotli", "~> 0.9"
  gem "extlz4", "~> 0.3"
  gem "google-protobuf", "~> 4.31"
  gem "lz4_flex", "~> 1.1" if RUBY_VERSION >= "3.2" # older ones would have to build it, with Rust
  gem "msgpack", "~> 1.7"
  gem "ox", "~> 2.14"
  gem "zstd-ruby", "~> 2.0"
end

# Compiles with libsnappy's headers, or builds that library with cmake. bin/lab leaves it out where there is neither.
group :snappy do
  gem "snappy", "~> 0.5"
end
