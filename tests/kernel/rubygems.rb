# Gems: versions and conditions (answers of CRuby's), and gems that lie in a folder, with what they need.
require "tmpdir"
require "rbconfig"

vs = %w[0 1 1.0 1.0.0 1.a 1.0.a 1.0.a.1 1.0.b1 2.0.0.rc1 2.0.0.rc.2 10 1.10 1.9 1-1 1.0-pre 0.0.1.alpha 3.0.0.beta10 3.0.0.beta9 5.2.4.4 1..2 a 1.2.]
vs.each { |v| begin; x = Gem::Version.new(v); p [v, x.to_s, x.segments, x.canonical_segments, x.bump.to_s, x.release.to_s, x.prerelease?, x.approximate_recommendation, x.hash == Gem::Version.new(v).hash]; rescue ArgumentError; p [v, $!.message]; end }
ok = vs.select { |v| Gem::Version.correct?(v) }
p ok.product(ok).map { |a, b| Gem::Version.new(a) <=> Gem::Version.new(b) }.join
p ok.sort_by { |v| Gem::Version.new(v) }
["= 1.0", "~> 1.0", "~> 1.0.0", "~> 1.0.a", "> 1", ">= 1.0.a", "!= 1.0", "< 2.0.0.rc1", "1.0", "~>2", ">=1.9,<2"].each { |r| begin; q = Gem::Requirement.new(r.split(",")); p [r, q.to_s, ok.select { |v| q.satisfied_by?(Gem::Version.new(v)) }, q.specific?, q.prerelease?, q.none?, q.as_list]; rescue => e; p [r, e.class, e.message]; end }
p Gem::Requirement.new("x") rescue p $!.class, $!.message
p Gem::Requirement.create(nil).to_s, Gem::Requirement.default.to_s, Gem::Requirement.new == Gem::Requirement.new(">= 0"), Gem::Requirement.new("~> 1.0") == Gem::Requirement.new("~> 1.0.0"),Gem::Requirement.new("= 1.0") == Gem::Requirement.new("= 1.0.0")
d = Gem::Dependency.new("a", ">= 1", :development); p d, d.to_s, d.type, d.runtime?, d.match?("a", "2"), d.match?("b", "2"), d =~ Gem::Dependency.new("a", "2")
p Gem::Version.create("1"), Gem::Version.create(nil), Gem::Version.new("1").eql?(Gem::Version.new("1.0")), Gem::Version.new("1") == Gem::Version.new("1.0"), Gem::Version.new("1.2") == "1.2", Gem::Version.new("1.2") <=> "1.3", Gem::Version.new("1") <=> nil
p Gem::Platform.new("x86_64-linux").to_a, Gem::Platform.new("java").to_s, Gem::Platform.new("ruby"), Gem.win_platform?, Gem.ruby_version.class

# A folder of gems as `gem install` leaves it.
Dir.mktmpdir do |dir|
  gem = lambda do |name, version, needs = {}, platform: "ruby"|
    full = platform == "ruby" ? "#{name}-#{version}" : "#{name}-#{version}-#{platform}"
    [["#{dir}/specifications", ""], ["#{dir}/gems/#{full}/lib", ""]].each { |d, _| system("mkdir", "-p", d) }
    File.write("#{dir}/gems/#{full}/lib/#{name}.rb", "#{name.upcase} = #{version.inspect}\n")
    File.write("#{dir}/specifications/#{full}.gemspec", <<~SPEC)
      # -*- encoding: utf-8 -*-
      # stub: #{name} #{version} #{platform} lib

      Gem::Specification.new do |s|
        s.name = "#{name}".freeze
        s.version = "#{version}"
        s.required_rubygems_version = Gem::Requirement.new(">= 0".freeze) if s.respond_to? :required_rubygems_version=
        s.metadata = { "source_code_uri" => "x" } if s.respond_to? :metadata=
        s.require_paths = ["lib".freeze]
        s.authors = ["A".freeze]
        s.files = ["lib/#{name}.rb".freeze]
        #{needs.map { |n, r| "s.add_runtime_dependency(%q<#{n}>.freeze, #{r.inspect})" }.join("; ")}
      end
    SPEC
  end
  gem["aa", "1.0"]
  gem["aa", "1.9", { "bb" => ["~> 2.1"] }]
  gem["aa", "2.0.a"]
  gem["aa", "3.0", platform: "sparc-solaris"]
  gem["bb", "2.0"]
  gem["bb", "2.4"]
  gem["bb", "3.0"]
  gem["cc", "1.0", { "bb" => ["< 2.3"] }]
  gem["ee", "1.0", { "bb" => [">= 2.1", "< 3"] }]
  ruby = RbConfig.ruby
  [
    'require "aa"; p AA, Gem.loaded_specs.transform_values { |s| s.version.to_s }; require "bb"; p BB',
    'gem "aa", "1.0"; require "aa"; p AA; require "bb"; p BB',
    'require "ee"; p EE; require "bb"; p BB',
    'gem "ee", ">= 0.5", "< 2"; p Gem.loaded_specs.transform_values { |s| s.version.to_s }',
    's = Gem::Specification.find_by_name("bb", Gem::Requirement.new(">= 2.1", "< 3")); p s.version.to_s, Gem::Dependency.new("bb", Gem::Requirement.new(">= 2.1", "< 3")).to_s',
    'p Gem::Specification.find_all_by_name("bb", ">= 2.1", "< 3").map { |s| s.version.to_s }',
    'gem "bb", "2.0"; p gem("bb"); require "bb"; p BB; begin; gem "aa"; rescue Gem::LoadError => e; p e.class; end; p Gem.loaded_specs.keys',
    'gem "aa", "1.9"; begin; require "cc"; rescue LoadError => e; p e.class.ancestors.include?(LoadError); end',
    'begin; require "dd"; rescue LoadError => e; p e.message, e.path; end',
    'begin; gem "dd"; rescue LoadError => e; p e.class, e.name; end',
    's = Gem::Specification.find_by_name("aa", "< 1.5"); p s.version, s.dependencies, s.full_name, s.authors, s.require_paths, s.metadata',
    'p Gem::Specification.find_all_by_name("bb").map { |s| s.version.to_s }.sort',
    'p autoload?(:Gem).nil? || true, defined?(Gem), Gem::Version.new("2") > Gem::Version.new("1.9")',
  ].each { |text| puts IO.popen({ "GEM_PATH" => dir, "GEM_HOME" => dir, "RUBYOPT" => nil }, [ruby, "-W0", "-e", text], err: [:child, :out], &:read) }

  # Specifications that are broken, or cannot be read, keep nobody from the others.
  gem["good", "2.0"]
  gem["aa", "9.0"]
  specs = "#{dir}/specifications"
  File.write("#{specs}/aa-9.0.gemspec", "# -*- encoding: utf-8 -*-\n# stub: aa 9.0 ruby lib\n\nraise 'boo'\n")
  ["this is broken(", "raise 'boo'", "NoSuchConst", "raise NotImplementedError", "1", "", "\xFF\n\xFE\n"].each_with_index { |text, i| File.write("#{specs}/bad#{i}-1.0.gemspec", text) }
  File.symlink("/nowhere/at/all", "#{specs}/gone-1.0.gemspec")
  Dir.mkdir("#{specs}/folder-1.0.gemspec")
  text = 'require "good"; p GOOD; begin; require "nothing_at_all"; rescue LoadError => e; p e.class, e.message; end; require "aa"; p AA, Gem::Specification.count { |s| s.name.size == 2 }'
  puts IO.popen({ "GEM_PATH" => dir, "GEM_HOME" => dir, "RUBYOPT" => nil }, [ruby, "-W0", "-e", text], err: [:child, :out], &:read)
  said = IO.popen({ "GEM_PATH" => dir, "GEM_HOME" => dir, "RUBYOPT" => nil }, [ruby, "-e", 'require "good"'], err: [:child, :out], &:read)
  p said.scan(/^Invalid gemspec in \[.*?(\w+)-1.0.gemspec\]/).flatten.sort
end
