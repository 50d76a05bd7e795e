-- What is due under a key: most scripts do it before anything else.

-- The number of the first entry whose place is not below, and the entry.
local function seek(q, place)
  local e = call('LINDEX', q, 0)
  if not e then return 0, nil end
  if unpack_('>I8', e) >= place then return 0, e end
  local low, high = 1, call('LLEN', q)
  e = nil
  while low < high do
    local mid = math.floor((low + high) / 2)
    local x = call('LINDEX', q, mid)
    if unpack_('>I8', x) >= place then high, e = mid, x else low = mid + 1 end
  end
  return low, e
end

local function remove(q, at, e)
  if at == 0 then
    call('LPOP', q)
  elseif at * 2 < call('LLEN', q) then
    call('LREM', q, 1, e)
  else
    call('LREM', q, -1, e)
  end
end

-- An entry comes back to its place, unless its end has come meanwhile.
local function restore(b, t, e)
  local place, index, ends, _, flags = unpack_(ENTRY, e)
  if ends > 0 and ends <= t then
    if is_watched(b) then tell(b, END, index, flags, '') end
    return
  end
  if ends > 0 then call('ZADD', b .. 't', text(ends), 'e' .. text(place)) end
  local at, next = seek(b .. 'q', place)
  if at == 0 then
    call('LPUSH', b .. 'q', e)
  elseif next then
    call('LINSERT', b .. 'q', 'BEFORE', next, e)
  else
    call('RPUSH', b .. 'q', e)
  end
  if is_watched(b) then tell(b, BACK, index, flags, '') end
end

-- Does what is due, and says when the next thing is; nil: nothing.
local function catch_up(b, t)
  local changed
  while true do
    local due = call('ZRANGEBYSCORE', b .. 't', '-inf', text(t), 'WITHSCORES', 'LIMIT', 0, 100)
    if #due == 0 then break end
    call('INCRBY', b .. 'i', '0')
    for n = 1, #due, 2 do
      local what = due[n]
      local kind, id = what:sub(1, 1), what:sub(2)
      call('ZREM', b .. 't', what)
      if kind == 'l' then
        local e = call('HGET', b .. 'h', id)
        if e then
          call('HDEL', b .. 'h', id)
          call('HSET', b .. 'o', id, '')
          call('PEXPIRE', b .. 'o', KEEP)
          restore(b, t, e)
        end
      elseif kind == 'x' then
        local e = call('HGET', b .. 'x', id)
        if e then
          local _, _, ttl, _, flags = unpack_(ENTRY, e)
          call('HDEL', b .. 'x', id)
          -- It lasts from when it was due.
          enter(b, tonumber(due[n + 1]), ttl, flags, e:sub(VALUE))
        end
      else
        local place = tonumber(id)
        local at, e = seek(b .. 'q', place)
        if e and unpack_('>I8', e) == place then
          remove(b .. 'q', at, e)
          if is_watched(b) then
            local _, index, _, _, flags = unpack_(ENTRY, e)
            tell(b, END, index, flags, '')
          end
        end
      end
      changed = true
    end
  end
  if changed then
    came(b)
    call('PUBLISH', b .. 'c', 'r')
  end
end

-- When the next thing is due; false: nothing.
local function next_due(b)
  return call('ZRANGE', b .. 't', 0, 0, 'WITHSCORES')[2]
end

-- Brings a key up to date, and gives the time if anything is timed.
local function settle(b, t)
  local due = next_due(b)
  if not due then return t end
  t = t or now()
  if tonumber(due) <= t then catch_up(b, t) end
  return t
end
