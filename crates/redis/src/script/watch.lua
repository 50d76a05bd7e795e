-- KEYS: the key's m, the registry of names. ARGV: for how long it is watched at least, name. Brings it up to date.
local b, t = KEYS[1]:sub(1, -2), now()
local long, until_ = tonumber(ARGV[1]), tonumber(call('HGET', KEYS[1], 'w') or '0')
if until_ - t < long / 2 then call('HSET', KEYS[1], 'w', text(t + long)) end
if be_special(b) then call('ZADD', KEYS[2], 0, ARGV[2]) end
settle(b, t)
return 1
