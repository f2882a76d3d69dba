extension RedisFunction {
  /// Keys, seats, and how a match gets and loses a host.
  static let state = #"""
    local LEASE, RESERVATION, AFTERLIFE = 3000, 10000, 60000
    local PLAYERS, MATCHES, ASSIGNED, DOORS, NUMBERS = 128, 1024, 64, 6, 9007199254740992
    local P, now

    local function call(...) return redis.call(...) end
    local function text(number) return string.format('%.0f', number) end
    -- Lua's unpack has a limit that the arguments of a registration may exceed.
    local function slice(list, first, last)
      local part = {}
      for i = first, last or #list do part[#part + 1] = list[i] end
      return part
    end

    local function hostKey(h) return P .. 'host:' .. h end
    local function matchKey(m) return P .. 'match:' .. m end
    local function field(m, name) return call('HGET', matchKey(m), name) end
    local function hostExists(h) return call('EXISTS', hostKey(h)) == 1 end

    local function freeSeats(h)
      local v = call('HMGET', hostKey(h), 'seats', 'used')
      return math.max(0, v[1] - v[2])
    end

    local function setRank(h)
      local v = call(
        'HMGET', hostKey(h), 'game', 'region', 'draining', 'seats', 'used', 'overloaded')
      for _, region in ipairs({'', v[2]}) do
        local pool = P .. 'pool:' .. v[1] .. ' ' .. region
        if v[3] == '1' then
          call('ZREM', pool, h)
        else
          local rank = math.floor(v[5] * 65536 / v[4]) + (v[6] == '1' and 4294967296 or 0)
          call('ZADD', pool, text(rank), h)
        end
      end
    end

    local function use(h, count)
      call('HINCRBY', hostKey(h), 'used', count)
      setRank(h)
    end

    -- A seat is a letter, r(eserved), t(aken) or w(aiting), and the player's id.
    local function readSeats(m)
      local packed = field(m, 'seats') or ''
      local seats = {}
      for i = 1, #packed, 33 do
        seats[#seats + 1] = {state = packed:sub(i, i), player = packed:sub(i + 1, i + 32)}
      end
      return seats
    end

    local function writeSeats(m, seats)
      local parts = {}
      for i, seat in ipairs(seats) do parts[i] = seat.state .. seat.player end
      call('HSET', matchKey(m), 'seats', table.concat(parts))
    end

    local function seatIndex(seats, player)
      for i, seat in ipairs(seats) do if seat.player == player then return i end end
    end

    local function reserve(m, seat)
      if seat.state == 't' then return end
      seat.state = 'r'
      call('ZADD', P .. 'reserved', text(now + RESERVATION), m .. ' ' .. seat.player)
    end

    local function unreserve(m, seat)
      if seat.state == 'r' then call('ZREM', P .. 'reserved', m .. ' ' .. seat.player) end
    end

    local function isHeld(m) return field(m, 'phase') == 'held' end

    local function removeSeat(m, seats, index)
      unreserve(m, seats[index])
      table.remove(seats, index)
      writeSeats(m, seats)
      if isHeld(m) then use(field(m, 'host'), -1) end
    end

    -- Gives the seats of a match back to its host.
    local function vacate(m)
      if not isHeld(m) then return end
      local h = field(m, 'host')
      use(h, 0 - #readSeats(m)) -- Redis does not take -0 for a number.
      call('SREM', P .. 'matches:' .. h, m)
      call('ZREM', P .. 'assigned:' .. h, m)
      call('ZREM', P .. 'unconfirmed', m)
    end

    local function orphan(m)
      vacate(m)
      local seats = readSeats(m)
      for _, seat in ipairs(seats) do
        unreserve(m, seat)
        seat.state = 'w'
      end
      writeSeats(m, seats)
      call('HSET', matchKey(m), 'phase', 'orphaned')
      call('ZADD', P .. 'orphans', text(now + AFTERLIFE), m)
    end

    local function forget(m)
      for _, seat in ipairs(readSeats(m)) do unreserve(m, seat) end
      call('ZREM', P .. 'orphans', m)
      call('ZREM', P .. 'finished', m)
      call('DEL', matchKey(m))
    end

    local function confirm(m)
      local h = field(m, 'host')
      call('ZREM', P .. 'assigned:' .. h, m)
      call('ZREM', P .. 'unconfirmed', m)
      call('HSET', matchKey(m), 'played', '1')
    end

    local function removeHost(h)
      if not hostExists(h) then return end
      for _, m in ipairs(call('SMEMBERS', P .. 'matches:' .. h)) do orphan(m) end
      local v = call('HMGET', hostKey(h), 'game', 'region')
      for _, region in ipairs({'', v[2]}) do
        call('ZREM', P .. 'pool:' .. v[1] .. ' ' .. region, h)
      end
      if call('HINCRBY', P .. 'versions', v[1], -1) <= 0 then
        call('HDEL', P .. 'versions', v[1])
      end
      call('ZREM', P .. 'ring:' .. v[1], h)
      call('ZREM', P .. 'leases', h)
      call('DEL', hostKey(h), P .. 'matches:' .. h, P .. 'assigned:' .. h)
    end

    -- The members whose time has come. A time that is further away than it can be was set before
    -- the server's clock went back.
    local function due(name, longest)
      local key = P .. name
      for _, member in ipairs(call('ZRANGEBYSCORE', key, '(' .. text(now + longest), '+inf')) do
        call('ZADD', key, text(now + longest), member)
      end
      return ipairs(call('ZRANGEBYSCORE', key, '-inf', text(now)))
    end

    local function sweep()
      for _, h in due('leases', LEASE) do removeHost(h) end
      for _, m in due('unconfirmed', RESERVATION) do
        if field(m, 'played') == '1' then
          orphan(m)
        else
          vacate(m)
          forget(m)
        end
      end
      for _, member in due('reserved', RESERVATION) do
        local m, player = member:match('^(%S+) (%S+)$')
        local seats = readSeats(m)
        removeSeat(m, seats, seatIndex(seats, player))
      end
      for _, m in due('orphans', AFTERLIFE) do forget(m) end
      for _, m in due('finished', AFTERLIFE) do forget(m) end
    end

    -- Where a match is: nothing if it has no host.
    local function placement(m)
      if not isHeld(m) then return end
      local v = call('HMGET', matchKey(m), 'host', 'number')
      return m, v[1], v[2], call('HGET', hostKey(v[1]), 'record')
    end

    -- Nothing if the claim counts.
    local function objection(m, h, number)
      local v = call('HMGET', matchKey(m), 'phase', 'host', 'number')
      if v[1] == 'held' and v[2] == h and v[3] == number then return end
      return {'superseded', placement(m)}
    end
    """#
}
