-- What scripts share that do more than the plain case, which each of them does first and by itself. A key's data stands in places whose
-- names begin alike (`b`):
--
--   b i  number  the last index; 2^52 more, which makes the key *special*: somebody may wait under it or watch it, it has a limit, or
--                something is to enter later. Else nobody need be told of a put.
--   b m  hash    b: the last place whose entry has another index. n: the limit. x: how often something was put to enter later. w: until
--                when it is watched.
--   b q  list    the queue: entries in the order of their places.
--   b h  hash    leased entries by the names of their leases.
--   b o  hash    names of leases that were over before their clients had ended them; for an hour.
--   b x  hash    entries that enter later, by numbers. Their end is how long they last once they are in.
--   b t  sorted  what is due, in milliseconds of the server's clock: l with a lease, x with a number, e with the place of what ends.
--                Leases may have been ended before.
--
-- An entry is place, index, end (0: none), deliveries, flags (1: owned, 2: changed), and the value. A place is the index that the
-- entry had when it entered; `update` gives another index, and what was leased comes back to its place.
--
-- Who waits hears at the channel b c: a number, so many stand in the queue; r, there is room. Who watches hears at b w. Who has looked in vain
-- and waits has made the key special, so that the next put tells it; names.lua takes that back where nobody listens, and forgets keys under which
-- there never was anything.
--
-- The first thing that a script writes is what a server without memory refuses, or what makes room: nothing is done by halves.

local ENTRY, VALUE = '>I8I8I8I4B', 30
local PUT, UPDATE, TAKE, BACK, END = 1, 2, 3, 4, 5
local KEEP = '3600000'

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

-- Under a key where somebody may wait.
local function came(b)
  call('PUBLISH', b .. 'c', text(call('LLEN', b .. 'q')))
end

-- The last index; is the key special?
local function last_index(b)
  local i = tonumber(call('GET', b .. 'i') or '0')
  return i % SPECIAL, i >= SPECIAL
end

local function is_watched(b)
  return call('HGET', b .. 'm', 'w') ~= false
end

-- Somebody is to be told of what happens under this key from now on. Is it a new one?
local function be_special(b)
  local last = call('GET', b .. 'i')
  if not last or last + 0 < SPECIAL then call('INCRBY', b .. 'i', '4503599627370496') end
  return not last
end

-- The next index; is the key special?
local function next_index(b)
  local i = call('INCR', b .. 'i')
  if i < SPECIAL then return i, false end
  return i - SPECIAL, true
end

local function enter(b, t, ttl, flags, value)
  local i, special = next_index(b)
  local ends = 0
  if ttl > 0 then
    ends = t + ttl
    call('ZADD', b .. 't', text(ends), 'e' .. text(i))
  end
  local n = call('RPUSH', b .. 'q', pack(ENTRY, i, i, ends, 0, flags) .. value)
  if special and is_watched(b) then tell(b, PUT, i, flags, value) end
  return i, n, special
end

-- Puts or updates: its index, 0 if it enters later. `how`: bits, delay, ttl, or nothing; `tail`: its entry behind the index.
local function store(b, t, how, tail, registry, name)
  local bits, delay, ttl = how:match('(%d+) (%d+) (%d+)')
  bits, delay, ttl = tonumber(bits or 0), tonumber(delay or 0), tonumber(ttl or 0)
  local flags, value = tail:byte(13), tail:sub(14)
  if delay > 0 or ttl > 0 then t = t or now() end
  if delay > 0 then
    local n = string.format('%016.0f', call('HINCRBY', b .. 'm', 'x', 1))
    call('HSET', b .. 'x', n, pack(ENTRY, 0, 0, ttl, 0, flags) .. value)
    call('ZADD', b .. 't', text(t + delay), 'x' .. n)
    be_special(b)
    if registry then call('ZADD', registry, 0, name) end
    -- Who waits is to know how long.
    came(b)
    return 0
  end
  if bits >= 2 then
    local head = call('LINDEX', b .. 'q', 0)
    if head then
      local i, special = next_index(b)
      local place, _, ends = unpack_(ENTRY, head)
      if ends > 0 then call('ZREM', b .. 't', 'e' .. text(place)) end
      ends = 0
      if ttl > 0 then
        ends = t + ttl
        call('ZADD', b .. 't', text(ends), 'e' .. text(place))
      end
      call('LSET', b .. 'q', 0, pack(ENTRY, place, i, ends, 0, flags) .. value)
      if tonumber(call('HGET', b .. 'm', 'b') or '0') < place then call('HSET', b .. 'm', 'b', text(place)) end
      if special then
        if is_watched(b) then tell(b, UPDATE, i, flags, value) end
        came(b)
      end
      return i
    end
  end
  local i, n, special = enter(b, t, ttl, flags, value)
  if i == 1 and registry then call('ZADD', registry, 0, name) end
  if special then call('PUBLISH', b .. 'c', text(n)) end
  return i
end
