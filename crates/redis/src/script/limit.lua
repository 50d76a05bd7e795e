-- KEYS: the key's m. ARGV: the limit; 0: none.
local b = KEYS[1]:sub(1, -2)
if ARGV[1] == '0' then
  call('HDEL', KEYS[1], 'n')
else
  call('HSET', KEYS[1], 'n', ARGV[1])
  be_special(b)
end
call('PUBLISH', b .. 'c', 'r')
return 1
