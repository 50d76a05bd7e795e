-- What all scripts share. A key's data stands in five places whose names begin alike (`b`):
--
--   b m  hash    i: twice the last index, and one more if the key is watched. b: the last place whose entry has another index. n: the
--                limit. x: how often something was put to enter later. w: until when it is watched.
--   b q  list    the queue: entries in the order of their places.
--   b h  hash    leased entries by the names of their leases.
--   b x  hash    entries that enter later, by numbers. Their end is how long they last once they are in.
--   b t  sorted  what is due, in milliseconds of the server's clock: l with a lease, x with a number, e with the place of what ends.
--
-- An entry is place, index, end (0: none), deliveries, flags (1: owned, 2: changed), and the value. A place is the index that the
-- entry had when it entered; `update` gives another index, and what was leased comes back to its place.
--
-- Who waits hears at the channel b c: a number, so many stand in the queue; r, there is room. Who watches hears at b w.
--
-- The first thing that a script writes is what a server without memory refuses: nothing is done by halves.

local call = redis.call
local pack, unpack_ = struct.pack, struct.unpack
local ENTRY, VALUE = '>I8I8I8I4B', 30
local PUT, UPDATE, TAKE, BACK, END = 1, 2, 3, 4, 5

local function now()
  local t = call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function text(n)
  return string.format('%.0f', n)
end

local function tell(b, what, index, flags, value)
  if flags % 2 == 1 then value = '' end
  call('PUBLISH', b .. 'w', pack('>BI8B', what, index, flags) .. value)
end

-- Under a key where somebody waits or will.
local function came(b)
  call('PUBLISH', b .. 'c', text(call('LLEN', b .. 'q')))
end

-- The next index; is the key watched?
local function next_index(b)
  local i = call('HINCRBY', b .. 'm', 'i', 2)
  return math.floor(i / 2), i % 2 == 1
end

local function enter(b, t, ttl, flags, value)
  local i, watched = next_index(b)
  local ends = 0
  if ttl > 0 then
    ends = t + ttl
    call('ZADD', b .. 't', text(ends), 'e' .. text(i))
  end
  local n = call('RPUSH', b .. 'q', pack(ENTRY, i, i, ends, 0, flags) .. value)
  if watched then tell(b, PUT, i, flags, value) end
  return i, n
end

-- What this call of the client has come to before: the client's table (KEYS 1 and 2 of who asks) has a line for each call that may be
-- under way, with the number of the last one.
local function before(table, line, number)
  local seen = call('HGET', table, line)
  if not seen then return nil end
  local last = unpack_('>I8', seen)
  if last == number then return tonumber(seen:sub(9)) end
  if last > number then return false end
  return nil
end

local function remember(table, line, number, result, keep)
  call('HSET', table, line, pack('>I8', number) .. text(result))
  if keep ~= '0' then call('PEXPIRE', table, keep) end
end

local LATE = 'LATE a later call of this line was done'

-- Puts or updates: its index, 0 if it enters later.
local function store(b, t, bits, delay, ttl, value, registry, name)
  local flags = bits % 2
  if delay > 0 then
    local n = string.format('%016.0f', call('HINCRBY', b .. 'm', 'x', 1))
    call('HSET', b .. 'x', n, pack(ENTRY, 0, 0, ttl, 0, flags) .. value)
    call('ZADD', b .. 't', text(t + delay), 'x' .. n)
    if registry then call('ZADD', registry, 0, name) end
    -- Who waits is to know how long.
    came(b)
    return 0
  end
  if bits >= 2 then
    local head = call('LINDEX', b .. 'q', 0)
    if head then
      local i, watched = next_index(b)
      local place, _, ends = unpack_(ENTRY, head)
      if ends > 0 then call('ZREM', b .. 't', 'e' .. text(place)) end
      ends = 0
      if ttl > 0 then
        ends = t + ttl
        call('ZADD', b .. 't', text(ends), 'e' .. text(place))
      end
      call('LSET', b .. 'q', 0, pack(ENTRY, place, i, ends, 0, flags) .. value)
      if tonumber(call('HGET', b .. 'm', 'b') or '0') < place then call('HSET', b .. 'm', 'b', text(place)) end
      if watched then tell(b, UPDATE, i, flags, value) end
      came(b)
      return i
    end
  end
  local i, n = enter(b, t, ttl, flags, value)
  if i == 1 and registry then call('ZADD', registry, 0, name) end
  call('PUBLISH', b .. 'c', text(n))
  return i
end
