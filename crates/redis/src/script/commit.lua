-- KEYS: of each lease the h of its key, of each output the i and the q of its key, the client's table, the registry of names if there is one.
-- ARGV: the number of leases, of outputs, 1 if the client asks again, line, number, how long the table is kept, the name of each lease, then how,
-- name and entry of each output as a put has them.
-- Gives 1, or 0 if a lease is over: then nothing was changed. A lease is over when its segment has come back.
local K, A = KEYS, ARGV
local leases, outputs = A[1] + 0, A[2] + 0

-- The last lease is looked at as it ends: the first write, and one that makes room.
if leases > 0 then
  local ok = true
  for n = 1, leases - 1 do
    if call('HEXISTS', K[n], A[6 + n]) == 0 then ok = false end
  end
  if not ok or call('HDEL', K[leases], A[6 + leases]) == 0 then
    if A[3] == '0' then return 0 end
    -- All leases end at once. If none is there, and none was over, it has been done before.
    for n = 1, leases do
      if call('HEXISTS', K[n], A[6 + n]) == 1 or call('HEXISTS', K[n]:sub(1, -2) .. 'o', A[6 + n]) == 1 then return 0 end
    end
    return 1
  end
  for n = 1, leases - 1 do
    call('HDEL', K[n], A[6 + n])
  end
else
  local rows, number = K[2 * outputs + 1], A[5] + 0
  local seen = call('HGET', rows, A[4])
  if seen then
    -- See rows.lua.
    local last, result = unpack_('>I8I8', seen)
    if last == number then return result end
    if last > number then return redis.error_reply('LATE a later call of this line was done') end
  end
  local new, keep = call('HSET', rows, A[4], pack('>I8I8', number, 1)), A[6]
  if keep == '0' and new == 1 and call('HLEN', rows) == 1 then keep = '3600000' end
  if keep ~= '0' then call('PEXPIRE', rows, keep) end
end
local registry = K[leases + 2 * outputs + 2]
local from
local at = 7 + leases
for n = leases + 1, leases + 2 * outputs, 2 do
  if A[at] ~= '' then from = n break end
  local i = call('INCR', K[n])
  if i >= SPECIAL then
    call('DECR', K[n])
    from = n
    break
  end
  call('RPUSH', K[n + 1], pack('>I8I8', i, i) .. A[at + 2])
  if i == 1 and registry then call('ZADD', registry, 0, A[at + 1]) end
  at = at + 3
end
if not from then return 1 end

--REST
for n = from, leases + 2 * outputs, 2 do
  store(K[n]:sub(1, -2), nil, A[at], A[at + 2], registry, A[at + 1])
  at = at + 3
end
return 1
