-- KEYS: the key's i, its q, the client's table, the registry of names if there is one.
-- ARGV: line, number, how long the table is kept, how (nothing: it is just put; or bits, 1: owned, 2: update, delay, ttl), name, its entry behind
-- the index, and line and number of the put under the key that was made before it and is not known to be done, if there is one.
-- Gives the index; 0: it enters later; -1: the queue is full; -2: it was full for the put before; -3 and less: it is full, and in so
-- many milliseconds and three something is due there.
local number = ARGV[2] + 0
local seen = ARGV[7] and call('HMGET', KEYS[3], ARGV[1], ARGV[7]) or { call('HGET', KEYS[3], ARGV[1]) }
local done = before(seen[1], number)
if done then return done end
if done == false then return redis.error_reply(LATE) end
if ARGV[7] then
  local follows = is_done(seen[2], ARGV[8] + 0)
  if follows == nil then return redis.error_reply(EARLY) end
  if not follows then
    remember(KEYS[3], ARGV[1], number, SPECIAL, ARGV[3])
    return -2
  end
end
if ARGV[4] == '' then
  local last = call('GET', KEYS[1])
  if not last or last + 0 < SPECIAL then
    local i = call('INCR', KEYS[1])
    call('RPUSH', KEYS[2], pack('>I8I8', i, i) .. ARGV[6])
    if i == 1 and KEYS[4] then call('ZADD', KEYS[4], 0, ARGV[5]) end
    remember(KEYS[3], ARGV[1], number, i, ARGV[3])
    return i
  end
end

--REST
local b = KEYS[1]:sub(1, -2)
local limit = call('HGET', b .. 'm', 'n')
local t = settle(b)
local updates = ARGV[4]:find('^[23]')
if limit and not updates and call('LLEN', b .. 'q') + call('HLEN', b .. 'x') >= tonumber(limit) then
  remember(KEYS[3], ARGV[1], number, SPECIAL, ARGV[3])
  local due = next_due(b)
  return due and -3 - math.max(math.ceil(tonumber(due) - (t or now())), 0) or -1
end
local i = store(b, t, ARGV[4], ARGV[6], KEYS[4], ARGV[5])
remember(KEYS[3], ARGV[1], number, i, ARGV[3])
return i
