-- KEYS: each input's i, the registry of names. ARGV: the lease's length, its name, 1 if the client will wait, the names when it asked before and was not
-- answered (or nothing), then kind (t, p), index to look behind (or nothing) and name of each input.
-- Gives 0 and the entries; 1, the input that is not there, and in how long something is due there; 2, the input whose index was not
-- given out, and the key's last one.
local long, id, earlier = ARGV[1] + 0, ARGV[2], ARGV[4]
if #KEYS == 2 and ARGV[5] == 't' and ARGV[6] == '' and earlier == '' then
  local last = call('GET', KEYS[1])
  if last and last + 0 < SPECIAL then
    local b = KEYS[1]:sub(1, -2)
    local t = call('TIME')
    t = t[1] * 1000 + math.floor(t[2] / 1000)
    if call('ZCOUNT', b .. 't', '-inf', t) == 0 then
      local e = call('LPOP', b .. 'q')
      if e then
        local place, _, ends, deliveries = unpack_('>I8I8I8I4', e)
        local held = e:sub(1, 24) .. pack('>I4', deliveries + 1) .. e:sub(29)
        call('HSET', b .. 'h', id .. '.1', held)
        call('ZADD', b .. 't', t + long, 'l' .. id .. '.1')
        if ends > 0 then call('ZREM', b .. 't', 'e' .. string.format('%.0f', place)) end
        return { 0, held }
      end
    end
  end
end

--REST
local inputs = #KEYS - 1
local t
local bases, keys = {}, {}
for n = 1, inputs do
  local b = KEYS[n]:sub(1, -2)
  bases[n] = b
  if not keys[b] then
    local last, special = last_index(b)
    local key = special and call('HMGET', b .. 'm', 'n', 'w') or {}
    keys[b] = { limit = key[1], last = last, watched = key[2] }
    t = settle(b, t)
  end
  if ARGV[2 + 3 * n] == 't' then
    -- The answer that had it was lost: it is as if nobody had seen it. This call may miss something else and leave it.
    local back
    for name in earlier:gmatch('%S+') do
      local lease = name .. '.' .. n
      local e = call('HGET', b .. 'h', lease)
      if e then
        local place, index, ends, deliveries, flags = unpack_(ENTRY, e)
        call('INCRBY', b .. 'i', '0')
        call('HDEL', b .. 'h', lease)
        call('ZREM', b .. 't', 'l' .. lease)
        restore(b, t or now(), pack(ENTRY, place, index, ends, deliveries - 1, flags) .. e:sub(VALUE))
        back = true
      end
    end
    if back then came(b) end
  end
end

-- The entry with the lowest index above `after` that is not taken, and its number.
local function find_after(b, after, taken)
  local q, bent = b .. 'q', tonumber(call('HGET', b .. 'm', 'b') or '0')
  local best, best_at, best_index
  local at = 0
  while true do
    local e = call('LINDEX', q, at)
    if not e then return best, best_at end
    local place, index = unpack_('>I8I8', e)
    if place > bent then break end
    if index > after and not taken[place] and (not best or index < best_index) then best, best_at, best_index = e, at, index end
    at = at + 1
  end
  -- The others' indexes are their places.
  local from, e = seek(q, math.max(after, bent) + 1)
  while e do
    local place = unpack_('>I8', e)
    if not taken[place] then
      if best and best_index < place then return best, best_at end
      return e, from
    end
    from = from + 1
    e = call('LINDEX', q, from)
  end
  return best, best_at
end

local taken = {}
local entries, numbers = { 0 }, {}
for n = 1, inputs do
  local b, kind, after = bases[n], ARGV[2 + 3 * n], ARGV[3 + 3 * n]
  local out = taken[b]
  if not out then out = {}; taken[b] = out end
  if kind == 'p' then out = {} end
  local e, at
  if after ~= '' then
    local last = last_index(b)
    after = tonumber(after)
    if after > last then return { 2, n, last } end
    e, at = find_after(b, after, out)
  else
    at = 0
    e = call('LINDEX', b .. 'q', 0)
    while e and out[unpack_('>I8', e)] do
      at = at + 1
      e = call('LINDEX', b .. 'q', at)
    end
  end
  if not e then
    if ARGV[3] == '1' and be_special(b) then call('ZADD', KEYS[#KEYS], 0, ARGV[4 + 3 * n]) end
    local due = next_due(b)
    return { 1, n, due and math.max(math.ceil(tonumber(due) - (t or now())), 0) or -1 }
  end
  if kind == 't' then out[unpack_('>I8', e)] = true end
  entries[n + 1], numbers[n] = e, at
end
for n = 1, inputs do
  if ARGV[2 + 3 * n] == 't' then
    local b, e = bases[n], entries[n + 1]
    t = t or now()
    local place, index, ends, deliveries, flags = unpack_(ENTRY, e)
    local held = pack(ENTRY, place, index, ends, deliveries + 1, flags) .. e:sub(VALUE)
    local lease = id .. '.' .. n
    call('HSET', b .. 'h', lease, held)
    call('ZADD', b .. 't', text(t + long), 'l' .. lease)
    if ends > 0 then call('ZREM', b .. 't', 'e' .. text(place)) end
    -- What was taken before it may have stood before it.
    local at = inputs == 1 and numbers[n] or seek(b .. 'q', place)
    remove(b .. 'q', at, e)
    entries[n + 1] = held
    if keys[b].limit then call('PUBLISH', b .. 'c', 'r') end
    if keys[b].watched then tell(b, TAKE, index, flags, '') end
  end
end
return entries
