-- KEYS: the key's m. ARGV: for how long it is watched at least. Brings it up to date.
local b, t = KEYS[1]:sub(1, -2), now()
local long, until_ = tonumber(ARGV[1]), tonumber(call('HGET', KEYS[1], 'w') or '0')
if until_ - t < long / 2 then call('HSET', KEYS[1], 'w', text(t + long)) end
be_special(b)
settle(b, t)
return 1
