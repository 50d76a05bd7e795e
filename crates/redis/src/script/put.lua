-- KEYS: the key's m, the client's table, the registry of names if there is one.
-- ARGV: line, number, how long the table is kept, bits (1: owned, 2: update), delay, ttl, name, value.
-- Gives the index; 0: it enters later; -1: the queue is full.
local b, number = KEYS[1]:sub(1, -2), tonumber(ARGV[2])
local done = before(KEYS[2], ARGV[1], number)
if done then return done end
if done == false then return redis.error_reply(LATE) end
local bits, delay, ttl = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local limit = call('HGET', KEYS[1], 'n')
local t = settle(b)
if limit and bits < 2 and call('LLEN', b .. 'q') + call('HLEN', b .. 'x') >= tonumber(limit) then return -1 end
if not t and (delay > 0 or ttl > 0) then t = now() end
local i = store(b, t, bits, delay, ttl, ARGV[8], KEYS[3], ARGV[7])
remember(KEYS[2], ARGV[1], number, i, ARGV[3])
return i
