-- Operations on counters, all at one moment of this server's clock.
-- ARGV: prefix, skew in microseconds, then for each operation: kind, key, period in seconds, start, n, limit.
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

for i = 3, #ARGV, 6 do
  local kind, period, start = ARGV[i], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local n, limit = tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5])
  if kind ~= 'add' and kind ~= 'floor' then
    start = seconds - seconds % period
  end
  local name = period == 86400 and date(math.floor(start / 86400)) or string.format('%d:%d', period, start)
  local key = ARGV[1] .. ARGV[i + 1] .. ':' .. name
  local before = tonumber(redis.call('GET', key) or '0')
  local used, granted = before, 0
  if kind == 'take' then
    granted = math.max(0, math.min(n, limit - used))
    used = used + granted
  elseif kind == 'add' then
    used = math.max(0, used + n)
  elseif kind == 'floor' then
    used = math.max(used, n)
  elseif kind == 'reset' then
    used = 0
  end
  if used ~= before then
    redis.call('SET', key, string.format('%d', used), 'EXAT', start + period + 3600)
  end
  reply[#reply + 1] = granted
  reply[#reply + 1] = used
  reply[#reply + 1] = start
end
return reply
