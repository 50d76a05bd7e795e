# I18n: translations from hashes and a file, interpolation, plurals, defaults, fallbacks, dates, errors.
require "i18n"
require "i18n/backend/fallbacks"
require "tmpdir"

I18n.backend.store_translations :en,
  hello: "Hello %{name}", nested: {deep: {key: "found"}, list: %w[a b]},
  apples: {zero: "no apples", one: "one apple", other: "%{count} apples"},
  price: "%<amount>.2f for %{name}",
  proc: ->(key, options) { "#{key} called with #{options[:x]}" }, sym: :hello,
  date: {formats: {default: "%Y-%m-%d", long: "%A, %d %B %Y"}, day_names: %w[Sunday Monday Tuesday Wednesday Thursday Friday Saturday], abbr_day_names: %w[Sun Mon Tue Wed Thu Fri Sat],
         month_names: [nil, *%w[January February March April May June July August September October November December]], abbr_month_names: [nil, *%w[Jan Feb Mar]]},
  time: {formats: {default: "%a %H:%M", short: "%H.%M %p"}, am: "am", pm: "pm"}
I18n.backend.store_translations :de, hello: "Hallo %{name}", apples: {one: "ein Apfel", other: "%{count} Äpfel"}

p I18n.t(:hello, name: "Ann"), I18n.t("nested.deep.key"), I18n.t(:list, scope: :nested), I18n.t(:key, scope: [:nested, :deep])
p (0..2).map { |n| I18n.t(:apples, count: n) }, I18n.t(:price, amount: 3.14159, name: "pi")
p I18n.t(:proc, x: 1), I18n.t(:sym, name: "Via"), I18n.t([:hello, :"nested.deep.key"], name: "Both")
p I18n.t(:none), I18n.t(:none, default: "dflt"), I18n.t(:none, default: [:nope, :"nested.deep.key"]), I18n.exists?(:hello), I18n.exists?(:hello, :fr)
I18n.with_locale(:de) { p I18n.t(:hello, name: "Bo"), I18n.t(:apples, count: 1), I18n.t(:apples, count: 5), I18n.locale }
p I18n.locale, I18n.available_locales.sort
[-> { I18n.t(:hello) }, -> { I18n.t!(:none) }, -> { I18n.locale = :xx }, -> { I18n.t(:apples, count: 1, locale: :de, name: 1) }, -> { I18n.t(nil) }, -> { I18n.t("") }].each do |f|
  p f.call
rescue => e
  puts "#{e.class}: #{e.message.delete("{}").gsub(/:(\w+)=>/, '\1: ')}"
end
t = Time.utc(2024, 2, 29, 15, 4, 5)
p I18n.l(t), I18n.l(t, format: :short), I18n.l(t, format: "%d %B %-d")
p I18n.transliterate("Ærøskøbing ünï")
class Simple < I18n::Backend::Simple
  include I18n::Backend::Fallbacks
end
Dir.mktmpdir do |dir|
  File.write("#{dir}/fr.rb", "{ fr: { hello: 'Bonjour %{name}' } }")
  I18n.backend = Simple.new
  I18n.load_path = ["#{dir}/fr.rb"]
  I18n.backend.store_translations :en, only: "in English"
  I18n.fallbacks = I18n::Locale::Fallbacks.new(:en, fr: [:en])
  p I18n.t(:hello, locale: :fr, name: "M"), I18n.t(:only, locale: :fr), I18n.fallbacks[:"de-AT"]
end
p I18n.interpolate("%{a} %%{b} %<c>d", a: 1, c: 2), I18n.normalize_keys(:en, "a.b", "c")
