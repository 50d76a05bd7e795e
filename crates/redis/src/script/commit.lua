-- KEYS: the client's table, the m of each key, the registry of names if there is one.
-- ARGV: line, number, how long the table is kept, the number of keys, the number of leases, then the key's number and the name of
-- each lease, then the key's number, bits, delay, ttl, name and value of each output.
-- Gives 1, or 0 if a lease is over: then nothing was changed. A lease is over when its segment has come back.
local number = tonumber(ARGV[2])
local leases = tonumber(ARGV[5])
local outputs = 6 + 2 * leases

local function base(n)
  return KEYS[ARGV[n] + 1]:sub(1, -2)
end

for n = 6, outputs - 1, 2 do
  if call('HEXISTS', base(n) .. 'h', ARGV[n + 1]) == 0 then
    -- They end once: it has done so before, or it is too late.
    return before(KEYS[1], ARGV[1], number) or 0
  end
end
if leases == 0 then
  local done = before(KEYS[1], ARGV[1], number)
  if done then return done end
  if done == false then return redis.error_reply(LATE) end
end
remember(KEYS[1], ARGV[1], number, 1, ARGV[3])
for n = 6, outputs - 1, 2 do
  local b = base(n)
  call('HDEL', b .. 'h', ARGV[n + 1])
  call('ZREM', b .. 't', 'l' .. ARGV[n + 1])
end
if outputs > #ARGV then return 1 end
local registry = KEYS[ARGV[4] + 2]
local t
for n = outputs, #ARGV, 6 do
  local delay, ttl = tonumber(ARGV[n + 2]), tonumber(ARGV[n + 3])
  if not t and (delay > 0 or ttl > 0) then t = now() end
  store(base(n), t, tonumber(ARGV[n + 1]), delay, ttl, ARGV[n + 5], registry, ARGV[n + 4])
end
return 1
