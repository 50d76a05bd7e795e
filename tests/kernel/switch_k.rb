# `-K` names an encoding by a letter.
kumi = File.readlink("/proc/self/exe")
%w[-Ks -KS -Ke -Ku -Kn].each { |k| puts `#{kumi} -W0 #{k} -e 'print Encoding.default_external'` }
