-- KEYS: the client's table, the key's m. ARGV: line, number, how long the table is kept, the lease's name, how, value.
-- how: as it was; left: with this value; unseen: nobody has seen it; entry: the lease has ended, and it stands again all the same.
-- Gives 1, or 0 if the lease is over.
local b, number = KEYS[2]:sub(1, -2), tonumber(ARGV[2])
local done = before(call('HGET', KEYS[1], ARGV[1]), number)
if done then return done end
if done == false then return redis.error_reply(LATE) end
local t = settle(b) or now()
local lease, how, e = ARGV[4], ARGV[5], ARGV[6]
if how ~= 'entry' then
  e = call('HGET', b .. 'h', lease)
  if not e then return 0 end
end
remember(KEYS[1], ARGV[1], number, 1, ARGV[3])
if how ~= 'entry' then
  call('HDEL', b .. 'h', lease)
  call('ZREM', b .. 't', 'l' .. lease)
end
local place, index, ends, deliveries, flags = unpack_(ENTRY, e)
local value = e:sub(VALUE)
if how == 'left' then
  value = ARGV[6]
  if flags < 2 then flags = flags + 2 end
elseif how ~= 'as' and deliveries > 0 then
  deliveries = deliveries - 1
end
restore(b, t, pack(ENTRY, place, index, ends, deliveries, flags) .. value)
came(b)
return 1
