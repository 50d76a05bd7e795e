-- KEYS: the key's m. Gives segments, delayed, leased, the last index, the limit (0: none).
local b = KEYS[1]:sub(1, -2)
settle(b)
local limit = tonumber(call('HGET', KEYS[1], 'n') or '0')
local last = last_index(b)
return { call('LLEN', b .. 'q'), call('HLEN', b .. 'x'), call('HLEN', b .. 'h'), last, limit }
