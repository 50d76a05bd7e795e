-- KEYS: the registry of names. ARGV: what all keys begin with, prefix, where to begin (ZRANGEBYLEX), the most.
-- Gives the last name that was looked at (or nothing: there are no more), and names of keys that have segments, in order.
-- Brings all that it looks at up to date: nodes call it now and then for that alone.
local ns, prefix, most = ARGV[1], ARGV[2], tonumber(ARGV[4])
local found = { '' }
local names = call('ZRANGEBYLEX', KEYS[1], ARGV[3], '+', 'LIMIT', 0, most)
for _, name in ipairs(names) do
  if name:sub(1, #prefix) ~= prefix then return found end
  local b
  local open = name:find('{', 1, true)
  local close = open and name:find('}', open + 1, true)
  if close and close > open + 1 then
    b = ns .. 't:' .. name .. ':'
  elseif name == '' or name:sub(1, 1) == '}' then
    b = ns .. 'b:{b}' .. name .. ':'
  else
    b = ns .. 'n:{' .. name .. '}:'
  end
  local t = settle(b)
  local _, special = last_index(b)
  if special then
    local limit, watched = unpack(call('HMGET', b .. 'm', 'n', 'w'))
    if watched and tonumber(watched) < (t or now()) then
      call('HDEL', b .. 'm', 'w')
      watched = false
    end
    if not limit and not watched and call('EXISTS', b .. 'x') == 0 then
      -- Who may not ask leaves it as it is.
      local heard = redis.pcall('PUBSUB', 'NUMSUB', b .. 'c')
      if heard[2] == 0 and call('DECRBY', b .. 'i', '4503599627370496') == 0 and call('EXISTS', b .. 'q', b .. 'h', b .. 't', b .. 'm') == 0 then
        call('DEL', b .. 'i')
        call('ZREM', KEYS[1], name)
      end
    end
  end
  if call('EXISTS', b .. 'q') == 1 then found[#found + 1] = name end
end
if #names == most then found[1] = names[most] end
return found
