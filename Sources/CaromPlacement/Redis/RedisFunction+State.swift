extension RedisFunction {
  /// Keys, seats, and how a match gets and loses a host.
  static let state = #"""
    local LEASE, RESERVATION, AFTERLIFE, CLOCK = 3000, 10000, 60000, 1000
    local PLAYERS, MATCHES, ASSIGNED, DOORS, NUMBERS = 128, 1024, 64, 6, 9007199254740992
    -- Set by each call of the function.
    local P, now, nextDue

    local function text(number) return string.format('%d', number) end
    -- Lua's unpack has a limit that the arguments of a registration may exceed.
    local function slice(list, first, last)
      local part = {}
      for i = first, last or #list do part[#part + 1] = list[i] end
      return part
    end

    -- The set `matches:` of a host has its matches: those that no player has joined yet under its
    -- claim in the order of their claims, and before them, with the score 0, the others.
    local function hostKey(h) return P .. 'host:' .. h end
    local function matchKey(m) return P .. 'match:' .. m end
    local function field(m, name) return call('HGET', matchKey(m), name) end
    local function hostExists(h) return call('EXISTS', hostKey(h)) == 1 end

    -- Sets until when members of a sorted set may stay as they are.
    local function setDeadline(name, longest, ...)
      local time, pairs = now + longest, {}
      for _, member in ipairs({...}) do
        pairs[#pairs + 1] = text(time)
        pairs[#pairs + 1] = member
      end
      call('ZADD', P .. name, unpack(pairs))
      if not nextDue or time < nextDue then
        nextDue = time
        call('HSET', P .. 'due', 'next', text(time))
      end
    end

    local function readHost(h)
      local v = call(
        'HMGET', hostKey(h), 'seats', 'used', 'matches', 'sequence', 'game', 'region', 'draining',
        'overloaded', 'record')
      return {
        id = h, seats = tonumber(v[1]), used = tonumber(v[2]), matches = tonumber(v[3]),
        sequence = tonumber(v[4]), game = v[5], region = v[6], draining = v[7] == '1',
        overloaded = v[8] == '1', record = v[9],
      }
    end

    -- The member of a host in a pool. It is longer than those that Redis keeps in one piece of
    -- memory, which it would read from the beginning for each change.
    local function poolMember(h) return h .. ('-'):rep(33) end

    local function freeSeats(host) return math.max(0, host.seats - host.used) end

    local function setRank(host)
      for _, region in ipairs({'', host.region}) do
        local pool = P .. 'pool:' .. host.game .. ' ' .. region
        if host.draining then
          call('ZREM', pool, poolMember(host.id))
        else
          local rank = math.floor(host.used * 65536 / host.seats)
            + (host.overloaded and 4294967296 or 0)
          call('ZADD', pool, text(rank), poolMember(host.id))
        end
      end
    end

    local function use(host, seats, matches)
      host.used, host.matches = host.used + seats, host.matches + matches
      call(
        'HSET', hostKey(host.id), 'used', text(host.used), 'matches', text(host.matches),
        'sequence', text(host.sequence))
      setRank(host)
    end

    -- A seat is a letter, r(eserved), t(aken) or w(aiting), and the player's id. A reservation ends
    -- at the time that the set `reserved` has for it; if it has none, with the claim, at the time
    -- that `unconfirmed` has for the match.
    local function readSeats(m)
      local packed = field(m, 'seats') or ''
      local seats = {}
      for i = 1, #packed, 33 do
        seats[#seats + 1] = {state = packed:sub(i, i), player = packed:sub(i + 1, i + 32)}
      end
      return seats
    end

    local function packSeats(seats)
      local parts = {}
      for i, seat in ipairs(seats) do parts[i] = seat.state .. seat.player end
      return table.concat(parts)
    end

    local function writeSeats(m, seats) call('HSET', matchKey(m), 'seats', packSeats(seats)) end

    local function seatIndex(seats, player)
      for i, seat in ipairs(seats) do if seat.player == player then return i end end
    end

    local function reserve(m, seat)
      if seat.state == 't' then return end
      seat.state = 'r'
      setDeadline('reserved', RESERVATION, m .. ' ' .. seat.player)
    end

    local function unreserve(m, seat)
      if seat.state == 'r' then call('ZREM', P .. 'reserved', m .. ' ' .. seat.player) end
    end

    -- Gives reservations that end with the claim times of their own, before the claim's changes.
    local function detachReservations(m, seats)
      local time = call('ZSCORE', P .. 'unconfirmed', m)
      if not time then return end
      local scored = {}
      for _, seat in ipairs(seats) do
        if seat.state == 'r' then
          scored[#scored + 1] = time
          scored[#scored + 1] = m .. ' ' .. seat.player
        end
      end
      if #scored > 0 then call('ZADD', P .. 'reserved', 'NX', unpack(scored)) end
    end

    local function isHeld(m) return field(m, 'phase') == 'held' end

    local function removeSeat(m, seats, index)
      unreserve(m, seats[index])
      table.remove(seats, index)
      writeSeats(m, seats)
      if isHeld(m) then use(readHost(field(m, 'host')), -1, 0) end
    end

    -- Gives the seats of a match back to its host.
    local function vacate(m)
      if not isHeld(m) then return end
      local h = field(m, 'host')
      use(readHost(h), 0 - #readSeats(m), -1)
      call('ZREM', P .. 'matches:' .. h, m)
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
      setDeadline('orphans', AFTERLIFE, m)
    end

    local function forget(m)
      for _, seat in ipairs(readSeats(m)) do unreserve(m, seat) end
      call('ZREM', P .. 'orphans', m)
      call('ZREM', P .. 'finished', m)
      call('DEL', matchKey(m))
    end

    local function confirm(m, seats)
      detachReservations(m, seats)
      local h = field(m, 'host')
      call('ZADD', P .. 'matches:' .. h, '0', m)
      call('ZREM', P .. 'unconfirmed', m)
      call('HSET', matchKey(m), 'played', '1')
    end

    local function removeHost(h)
      if not hostExists(h) then return end
      for _, m in ipairs(call('ZRANGE', P .. 'matches:' .. h, 0, -1)) do orphan(m) end
      local v = call('HMGET', hostKey(h), 'game', 'region', 'keys')
      if call('HINCRBY', P .. 'keys', v[3], -1) <= 0 then call('HDEL', P .. 'keys', v[3]) end
      for _, region in ipairs({'', v[2]}) do
        call('ZREM', P .. 'pool:' .. v[1] .. ' ' .. region, poolMember(h))
      end
      if call('HINCRBY', P .. 'versions', v[1], -1) <= 0 then
        call('HDEL', P .. 'versions', v[1])
      end
      call('ZREM', P .. 'ring:' .. v[1], h)
      call('ZREM', P .. 'leases', h)
      call('DEL', hostKey(h), P .. 'matches:' .. h)
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

    -- Ends all whose time has come. The time at which there may be something to end is kept, since
    -- most calls come before it; it may be too early, never too late.
    local function sweep()
      local v = call('HMGET', P .. 'due', 'next', 'last')
      local last = tonumber(v[2])
      nextDue = tonumber(v[1])
      local wentBack = last and now < last
      -- A clock that goes back by less than this time is not noticed.
      if not last or wentBack or now >= last + CLOCK then
        call('HSET', P .. 'due', 'last', text(now))
      end
      if nextDue and now < nextDue and not wentBack then return end
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
      nextDue = nil
      for _, name in ipairs({'leases', 'unconfirmed', 'reserved', 'orphans', 'finished'}) do
        local time = tonumber(call('ZRANGE', P .. name, 0, 0, 'WITHSCORES')[2])
        if time and (not nextDue or time < nextDue) then nextDue = time end
      end
      call('HSET', P .. 'due', 'next', nextDue and text(nextDue) or '')
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
