-- KEYS: the key's m. Gives segments, delayed, leased, the last index, the limit (0: none).
local b = KEYS[1]:sub(1, -2)
settle(b)
local key = call('HMGET', KEYS[1], 'i', 'n')
local last = math.floor(tonumber(key[1] or '0') / 2)
return { call('LLEN', b .. 'q'), call('HLEN', b .. 'x'), call('HLEN', b .. 'h'), last, tonumber(key[2] or '0') }
