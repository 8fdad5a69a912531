# frozen_string_literal: true

# Data for Lobsters, made by its own generator, and users reader1 to reader8. Lobsters runs it:
# rails runner lobsters_seed.rb.

require "rake"

self.class.include(Rake::DSL) # the task that is loaded below is defined by it

ActiveJob::Base.queue_adapter = :test
ActionMailer::Base.delivery_method = :test
load Rails.root.join("db/seeds.rb") unless User.exists?(username: "test")
load Rails.root.join("lib/tasks/fake_data.rake")
ActiveRecord::Base.transaction { FakeDataGenerator.new(24, 60, 5).generate }

readers = User.where(banned_at: nil,
deleted_at: nil).where.not(username: %w[System inactive-user test]).order(:id).first(8)
readers.each.with_index(1) do |user, number|
  user.update_columns(username: "reader#{number}", email: "reader#{number}@example.net", karma: 200,
                      created_at: 1.year.ago)
  user.reload.update!(password: "password#{number}", password_confirmation: "password#{number}")
end
puts "users #{User.count}, stories #{Story.count}, comments #{Comment.count}"
