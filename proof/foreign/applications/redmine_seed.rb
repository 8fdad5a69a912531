# frozen_string_literal: true

# Data for Redmine, the same in each run: users user1 to user8, projects shop1 to shop4 with issues, long wiki pages,
# news, a board, and a git repository. Redmine runs it: rails runner redmine_seed.rb.

Redmine::DefaultData::Loader.load("en")

Setting.cache_formatted_text = "1"
Setting.text_formatting = "common_mark"
Setting.login_required = "0"
Setting.session_lifetime = "0"
Setting.session_timeout = "0"
Setting.rest_api_enabled = "1"
Setting.enabled_scm = ["Git"]
ActiveRecord::Base.record_timestamps = true

WORDS = %w[cache session index shard record value reader writer worker deploy release ticket queue page table].freeze
random = Random.new(42)
text = lambda do |words|
  Array.new(words) do
    WORDS[random.rand(WORDS.size)]
  end.each_slice(12).map { |line| "#{line.join(" ").capitalize}." }.join("\n")
end
long = lambda {
  (1..6).map do |part|
    "## Part #{part}\n\n* #{text.call(8)}\n* **#{text.call(6)}**\n\n#{text.call(90)}"
  end.join("\n\n")
}

users = (1..8).map do |number|
  user = User.new(firstname: "User", lastname: "No#{number}", mail: "user#{number}@example.net", language: "en")
  user.login = "user#{number}"
  user.password = user.password_confirmation = "password#{number}"
  user.admin = number == 1
  user.save!
  user
end
role = Role.givable.first

repository = ENV.fetch("FOREIGN_REPOSITORY")
unless File.directory?(repository)
  FileUtils.mkdir_p(repository)
  git = lambda do |*arguments|
    names = { "GIT_AUTHOR_DATE" => "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE" => "2026-01-02T03:04:05Z" }
    system(names, "git", "-C", repository, "-c", "user.name=User No2", "-c", "user.email=user2@example.net", *arguments,
           exception: true)
  end
  git.call("init", "--quiet", "--initial-branch=main")
  6.times do |number|
    File.write(File.join(repository, "file#{number % 2}.txt"), text.call(400))
    git.call("add", ".")
    git.call("commit", "--quiet", "--message", "Change #{number}")
  end
end

projects = (1..4).map do |number|
  project = Project.new(name: "Shop #{number}", identifier: "shop#{number}", description: long.call, is_public: true)
  project.enabled_module_names = %w[issue_tracking time_tracking news documents files wiki repository boards calendar
                                    gantt]
  project.trackers = Tracker.all.to_a
  project.save!
  users.each { |user| Member.create!(project: project, principal: user, roles: [role]) }
  Version.create!(project: project, name: "1.#{number}", description: text.call(10))
  wiki = project.wiki || Wiki.create!(project: project, start_page: "Wiki")
  ["Wiki", "Guide", "Plan", "Notes"].each do |title|
    page = WikiPage.new(wiki: wiki, title: title)
    page.content = WikiContent.new(page: page, author: users[number], text: "# #{title}\n\n#{long.call}")
    page.save!
  end
  3.times { |one| News.create!(project: project, author: users[one], title: "News #{one}", description: long.call) }
  board = Board.create!(project: project, name: "Board", description: "Talk")
  4.times { |one| Message.create!(board: board, author: users[one], subject: "Topic #{one}", content: long.call) }
  project
end

120.times do |number|
  issue = Issue.new(project: projects[number % 4], tracker: Tracker.all[number % 3], author: users[number % 8],
                    subject: "#{text.call(4)} #{number}", description: number.even? ? long.call : text.call(40),
                    priority: IssuePriority.all[number % 4], assigned_to: users[(number + 3) % 8],
                    fixed_version: projects[number % 4].versions.first, estimated_hours: number % 9)
  issue.save!
  2.times do |note|
    issue.reload.init_journal(users[(number + note) % 8], text.call(note.zero? ? 20 : 500))
    issue.save!
  end
end

scm = Repository::Git.new(project: projects.first, url: File.join(repository, ".git"), identifier: "main",
is_default: true)
scm.save!
scm.fetch_changesets
# Two changes of one second have no order, so each gets a time of its own.
[Issue, Journal, Message, News, WikiPage, WikiContent, Changeset].each do |model|
  ["created_on", "updated_on", "committed_on"].intersection(model.column_names).each do |column|
    model.order(:id).pluck(:id).each_with_index do |id, place|
      model.where(id: id).update_all(column => Time.utc(2026, 11, 1) + (place * 601) + (id * 7))
    end
  end
end
User.update_all(created_on: Time.utc(2026, 1, 1), passwd_changed_on: nil)
puts "users #{User.count}, issues #{Issue.count}, wiki pages #{WikiPage.count}, changesets #{Changeset.count}"
