-- Operations on counters, all at one moment of this server's clock.
-- ARGV: prefix, skew in microseconds, this server's name ('' = not told, or it does not matter), then for each
-- operation: kind, key, period in seconds, start, n, limit. A restore has what each server counted, as JSON, instead of
-- a limit.
-- Reply: now in microseconds, then for each operation: granted, used afterwards, start of the period. Then for each
-- counter of which former servers counted something: the operation's number, and how much each did, as JSON.

-- The date of a day number, as YYYY-MM-DD (civil_from_days of Howard Hinnant's chrono algorithms).
local function date(days)
  local z = days + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local day = doy - math.floor((153 * mp + 2) / 5) + 1
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02d', year, month, day)
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2]) + tonumber(ARGV[2])
local seconds = math.floor(now / 1000000)
local reply = {now}

-- What a key ends with: nearly all of a batch are of the same period.
local endings = {}
local function ending(period, start)
  local id = period * 1e11 + start
  if not endings[id] then
    endings[id] = ':' .. (period == 86400 and date(math.floor(start / 86400)) or string.format('%d:%d', period, start))
  end
  return endings[id]
end

-- Who only looks changes nothing.
local writes = false
for i = 4, #ARGV, 6 do
  writes = writes or ARGV[i] ~= 'peek'
end

-- The servers that counted here, the newest last, each with since when (microseconds): this one has taken the place of
-- another, or is another since it was started again, and may lack the last counts.
local servers
local function begin()
  table.insert(servers, {ARGV[3], now})
  while #servers > 1 and servers[2][2] < now - 3 * 86400 * 1000000 do
    table.remove(servers, 1)
  end
  if #servers > 100 then
    table.remove(servers, 2) -- a period that began before today may still need the first
  end
  local list = {}
  for i, s in ipairs(servers) do
    list[i] = string.format('%s %d', s[1], s[2])
  end
  if writes then
    redis.call('SET', ARGV[1] .. 'servers', table.concat(list, ' '))
  end
end

local function since()
  if not servers then
    servers = {}
    for id, at in string.gmatch(redis.call('GET', ARGV[1] .. 'servers') or '', '(%S+) (%d+)') do
      table.insert(servers, {id, tonumber(at)})
    end
    if #servers == 0 or servers[#servers][1] ~= ARGV[3] then
      begin()
    end
  end
  return servers[#servers][2]
end

local function sum(counts)
  local total = 0
  for _, n in pairs(counts) do
    total = total + n
  end
  return total
end

local function keep(name, counts, expires)
  local json = next(counts) and cjson.encode(counts) or ''
  if writes then
    redis.call('SET', name, ARGV[3] .. ' ' .. json)
    redis.call('EXPIREAT', name, expires)
  end
  return json
end

-- How much of a counter former servers counted, as JSON ('' = nothing), and where that is kept; nothing if the period
-- began later. It must be called before the counter is changed: from then on, this server counts.
local function former(key, start, expires)
  if ARGV[3] == '' or start * 1000000 >= since() then
    return
  end
  local name = key .. ':servers'
  local id, json = string.match(redis.call('GET', name) or '', '^(%S*) (.*)$')
  if id == ARGV[3] then
    return json, name
  end
  if not id then
    id, json = '', ''
    for _, s in ipairs(servers) do
      if s[2] <= start * 1000000 then
        id = s[1]
      end
    end
  end
  local counts = json ~= '' and cjson.decode(json) or {}
  local own = tonumber(redis.call('GET', key) or '0') - sum(counts)
  if own ~= 0 then
    counts[id] = own
  end
  counts[ARGV[3]] = nil
  return keep(name, counts, expires), name
end

-- Whether something is known that another server counted.
local function foreign(known)
  for id in pairs(cjson.decode(known)) do
    if id ~= ARGV[3] then
      return true
    end
  end
  return false
end

-- Raises what each server counted to what is known of it.
local function restore(before, known, json, name, expires)
  known = cjson.decode(known)
  if not name then
    return math.max(before, sum(known)), json
  end
  local counts = json ~= '' and cjson.decode(json) or {}
  local own = before - sum(counts)
  for id, n in pairs(known) do
    if id == ARGV[3] then
      own = math.max(own, n)
    elseif not counts[id] or counts[id] < n then
      counts[id] = n
    end
  end
  return math.max(0, own + sum(counts)), keep(name, counts, expires)
end

-- Counts up to n, as many as the limit leaves. Most are granted in full, by one command.
local function take(key, n, limit, expires)
  local used = redis.call('INCRBY', key, n)
  n = tonumber(n)
  if used == n then
    redis.call('EXPIREAT', key, expires)
  end
  local left = limit - (used - n)
  if n <= left then
    return n, used
  end
  local granted = math.max(0, left)
  return granted, redis.call('DECRBY', key, n - granted)
end

local dated = {add = true, floor = true, restore = true}
local formers = {}
for i = 4, #ARGV, 6 do
  local kind, period, n = ARGV[i], tonumber(ARGV[i + 2]), ARGV[i + 4]
  local start = dated[kind] and tonumber(ARGV[i + 3]) or seconds - seconds % period
  -- A clock that was ahead may be set back, as far as a period and an hour: a count must not be gone by then.
  local key, expires = ARGV[1] .. ARGV[i + 1] .. ending(period, start), start + 2 * period + 3600
  local json, name = former(key, start, expires)
  if kind == 'restore' and not name and ARGV[3] ~= '' and foreign(ARGV[i + 5]) then
    begin() -- it has counted for longer, but not alone
    json, name = former(key, start, expires)
  end
  local granted, used = 0, nil
  if kind == 'take' then
    granted, used = take(key, n, tonumber(ARGV[i + 5]), expires)
  else
    local before = tonumber(redis.call('GET', key) or '0')
    used = before
    if kind == 'add' then
      used = math.max(0, before + tonumber(n))
    elseif kind == 'floor' then
      used = math.max(before, tonumber(n))
    elseif kind == 'restore' then
      used, json = restore(before, ARGV[i + 5], json, name, expires)
    elseif kind == 'reset' then
      used = 0
    end
    if used ~= before then
      redis.call('SET', key, string.format('%d', used))
      redis.call('EXPIREAT', key, expires)
    end
  end
  local at = (i - 2) / 2
  reply[at + 1], reply[at + 2], reply[at + 3] = granted, used, start
  if json and json ~= '' then
    table.insert(formers, (i - 4) / 6)
    table.insert(formers, json)
  end
end
for _, f in ipairs(formers) do
  table.insert(reply, f)
end
return reply
