-- KEYS: the key's m. ARGV: the limit; 0: none.
if ARGV[1] == '0' then
  call('HDEL', KEYS[1], 'n')
else
  call('HSET', KEYS[1], 'n', ARGV[1])
end
call('PUBLISH', KEYS[1]:sub(1, -2) .. 'c', 'r')
return 1
