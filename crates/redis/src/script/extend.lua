-- KEYS: the m of each lease's key. ARGV: how long they last from now on, then the name of each.
-- Gives 1, or 0 if one of them is over: then all are as they were.
local t
for n = 1, #KEYS do
  local b = KEYS[n]:sub(1, -2)
  t = settle(b, t)
end
for n = 1, #KEYS do
  if call('HEXISTS', KEYS[n]:sub(1, -2) .. 'h', ARGV[n + 1]) == 0 then return 0 end
end
t = text((t or now()) + tonumber(ARGV[1]))
for n = 1, #KEYS do
  call('ZADD', KEYS[n]:sub(1, -2) .. 't', t, 'l' .. ARGV[n + 1])
end
return 1
