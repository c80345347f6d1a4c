-- Operations on counters, all at one moment of this server's clock.
-- ARGV: prefix, skew in microseconds, this server's run ID ('' = not told, or it does not matter), then for each
-- operation: kind, key, period in seconds, start, n, limit.
-- Reply: now in microseconds, then for each operation: granted, used afterwards, start of the period.

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

-- Since when this server counts, in microseconds: it may have taken the place of another, or have lost the last
-- commands when it was started.
local born
local function since()
  if not born then
    local id, at = string.match(redis.call('GET', ARGV[1] .. 'server') or '', '^(%S+) (%d+)$')
    if id ~= ARGV[3] then
      at = string.format('%d', now)
      redis.call('SET', ARGV[1] .. 'server', ARGV[3] .. ' ' .. at)
    end
    born = tonumber(at)
  end
  return born
end

-- How much of a counter is from before that, and where this is kept. It must be read before the counter is changed. A
-- period that began later has nothing from before.
local function former(key, start, expires)
  if ARGV[3] == '' or start * 1000000 >= since() then
    return 0
  end
  local name = string.format('%s:%d', key, born)
  local n = redis.call('GET', name)
  if not n then
    n = redis.call('GET', key) or '0'
    redis.call('SET', name, n)
    redis.call('EXPIREAT', name, expires)
  end
  return tonumber(n), name
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

-- Does any other kind of operation, given what former returned.
local function change(kind, key, n, expires, restored, name)
  local before = tonumber(redis.call('GET', key) or '0')
  local used = before
  if kind == 'add' then
    used = math.max(0, used + n)
  elseif kind == 'floor' then
    used = math.max(used, n)
  elseif kind == 'restore' and n > restored then
    used = name and used + n - restored or math.max(used, n)
    if name then
      redis.call('SET', name, string.format('%d', n))
      redis.call('EXPIREAT', name, expires)
    end
  elseif kind == 'reset' then
    used = 0
  end
  if used ~= before then
    redis.call('SET', key, string.format('%d', used))
    redis.call('EXPIREAT', key, expires)
  end
  return 0, used
end

local dated = {add = true, floor = true, restore = true}
for i = 4, #ARGV, 6 do
  local kind, period, n = ARGV[i], tonumber(ARGV[i + 2]), ARGV[i + 4]
  local start = dated[kind] and tonumber(ARGV[i + 3]) or seconds - seconds % period
  -- A clock that was ahead may be set back, as far as a period and an hour: a count must not be gone by then.
  local key, expires = ARGV[1] .. ARGV[i + 1] .. ending(period, start), start + 2 * period + 3600
  local granted, used
  local restored, name
  if kind ~= 'peek' then
    restored, name = former(key, start, expires)
  end
  if kind == 'take' then
    granted, used = take(key, n, tonumber(ARGV[i + 5]), expires)
  else
    granted, used = change(kind, key, tonumber(n), expires, restored, name)
  end
  local at = (i - 2) / 2
  reply[at + 1], reply[at + 2], reply[at + 3] = granted, used, start
end
return reply
