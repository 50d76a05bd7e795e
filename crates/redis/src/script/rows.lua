-- What a call of the client has come to before, by its line: the client's table has a line for each call that may be under way, with the number of the last
-- one and its result; SPECIAL: it was not done, for there is no room. Who asks with a lower number is late: another was done meanwhile.
local LATE = 'LATE a later call of this line was done'
local EARLY = 'TRYAGAIN what was sent before it was refused'

local function before(seen, number)
  if not seen then return nil end
  local last, result = unpack_('>I8I8', seen)
  if last == number and result == SPECIAL then return nil end
  if last == number then return result end
  if last > number then return false end
  return nil
end

-- One long value makes a hash a table: a server searches a hash of short ones from its start, through hundreds of lines.
local function remember(table, line, number, result, keep)
  local new = call('HSET', table, line, pack('>I8I8', number, result))
  -- A table that was to be kept by a call that failed.
  if keep == '0' and new == 1 and call('HLEN', table) == 1 then keep = '3600000' end
  if keep ~= '0' then
    call('HSET', table, '', string.rep('-', 100))
    call('PEXPIRE', table, keep)
  end
end

-- Was that call done? False: there was no room for it; nil: it was not looked at.
local function is_done(seen, number)
  if not seen then return nil end
  local last, result = unpack_('>I8I8', seen)
  if last < number then return nil end
  return last > number or result ~= SPECIAL
end
