extension RedisFunction {
  /// The registration of a host.
  static let registration = #"""
    -- Sets the seats of a match to those that its host knows of, and those that are reserved.
    -- Returns the players for whom no seat is free.
    local function reseat(m, h, players)
      local host, known, before, seats = readHost(h), {}, readSeats(m), {}
      for _, player in ipairs(players) do known[player] = true end
      for _, seat in ipairs(before) do
        if known[seat.player] then
          unreserve(m, seat)
          seat.state = 't'
          seats[#seats + 1] = seat
        elseif seat.state ~= 't' then
          seats[#seats + 1] = seat
        end
      end
      local free = math.min(freeSeats(host) + #before - #seats, PLAYERS - #seats)
      local others = {}
      for _, player in ipairs(players) do
        if not seatIndex(seats, player) then
          if free > 0 then
            seats[#seats + 1] = {state = 't', player = player}
            free = free - 1
          else
            others[#others + 1] = player
          end
        end
      end
      writeSeats(m, seats)
      confirm(m, seats)
      use(host, #seats - #before, 0)
      return others
    end

    local function adopt(m, h, number, players)
      if readHost(h).matches >= MATCHES then return end
      for _, seat in ipairs(readSeats(m)) do unreserve(m, seat) end
      call('ZREM', P .. 'orphans', m)
      if call('EXISTS', matchKey(m)) == 0 then
        local v = call('HMGET', hostKey(h), 'game', 'region')
        call('HSET', matchKey(m), 'game', v[1], 'regions', v[2])
      end
      call('HSET', matchKey(m), 'host', h, 'number', number, 'phase', 'held', 'seats', '')
      call('ZADD', P .. 'matches:' .. h, '0', m)
      call('HINCRBY', hostKey(h), 'matches', 1)
      return reseat(m, h, players)
    end

    -- Lets a returning host go on with a match. Returns the players for whom there is no seat, or
    -- nothing if the host must not go on.
    local function keep(held, h)
      local m = held.match
      if held.host ~= h or #held.players > PLAYERS then return end
      local v = call('HMGET', matchKey(m), 'phase', 'host', 'number')
      local same = v[2] == held.host and v[3] == held.number
      local newer = not v[3] or tonumber(v[3]) < tonumber(held.number)
      if v[1] == 'finished' then return same and {} or nil end
      if v[1] == 'held' and same then return reseat(m, h, held.players) end
      if v[1] == 'held' then
        if not newer then return end
        orphan(m)
      elseif v[1] == 'orphaned' and not (newer or same) then
        return
      end
      return adopt(m, h, held.number, held.players)
    end

    local function readHolding(args, first)
      local holding, i = {}, first
      while i <= #args do
        local count = tonumber(args[i + 3])
        holding[#holding + 1] = {
          match = args[i], host = args[i + 1], number = args[i + 2],
          players = slice(args, i + 4, i + 3 + count),
        }
        i = i + 4 + count
      end
      return holding
    end

    local function hasFirst(keys, others)
      return (' ' .. others .. ' '):find(' ' .. keys:match('^%x+') .. ' ', 1, true)
    end

    -- Whether each of two hosts accepts the tokens that the other one makes with its first key.
    local function agree(keys, others)
      if keys == '' or others == '' then return true end
      return hasFirst(keys, others) and hasFirst(others, keys)
    end

    local function insertHost(h, run, connection, draining, keys, record, game, region, seats)
      removeHost(h)
      call('HINCRBY', P .. 'keys', keys, 1)
      -- Redis looks for a field in this order.
      call(
        'HSET', hostKey(h), 'used', 0, 'matches', 0, 'sequence', 0, 'seats', seats, 'draining',
        draining, 'overloaded', 0, 'run', run, 'connection', connection, 'region', region, 'game',
        game, 'record', record, 'late', 0, 'processor', 0, 'keys', keys)
      call('HINCRBY', P .. 'versions', game, 1)
      call('ZADD', P .. 'ring:' .. game, 0, h)
      setRank(readHost(h))
    end

    local function register(h, run, connection, args)
      local keys, draining, record = args[1], args[2], args[3]
      local v = call('HMGET', hostKey(h), 'run', 'connection', 'record', 'draining', 'keys')
      if v[1] and v[1] ~= run then return {'identityInUse'} end
      if v[1] and tonumber(v[2]) > tonumber(connection) then return {'unknownHost'} end
      for _, others in ipairs(call('HKEYS', P .. 'keys')) do
        if not agree(keys, others) then return {'otherKey'} end
      end
      local holding = readHolding(args, 7)
      if v[1] and v[3] == record and v[5] == keys then
        if v[4] == '1' then draining = '1' end
        call('HSET', hostKey(h), 'connection', connection, 'draining', draining)
        setRank(readHost(h))
        local held = {}
        for _, match in ipairs(holding) do
          held[match.match .. ' ' .. match.host .. ' ' .. match.number] = true
        end
        for _, m in ipairs(call('ZRANGE', P .. 'matches:' .. h, 0, -1)) do
          local claim = m .. ' ' .. h .. ' ' .. field(m, 'number')
          if not held[claim] and call('ZSCORE', P .. 'matches:' .. h, m) == '0' then orphan(m) end
        end
      else
        insertHost(h, run, connection, draining, keys, record, args[4], args[5], args[6])
      end
      setDeadline('leases', LEASE, h)
      local lost, unseated = {}, {}
      for i, match in ipairs(holding) do
        local others = keep(match, h)
        if not others then
          lost[#lost + 1] = {i - 1, placement(match.match)}
        elseif #others > 0 then
          unseated[#unseated + 1] = {i - 1, unpack(others)}
        end
      end
      return {'registered', lost, unseated}
    end
    """#

  /// The other commands of a host, and the one of an operator.
  static let hosts = #"""
    local function drain(h, patience)
      if not hostExists(h) then return {'unknownHost'} end
      call('HSET', hostKey(h), 'draining', '1')
      if patience then call('HSET', hostKey(h), 'patience', patience) end
      setRank(readHost(h))
      return {'done'}
    end

    local function renew(h, args)
      setDeadline('leases', LEASE, h)
      call(
        'HSET', hostKey(h), 'late', args[1], 'processor', args[2], 'overloaded', args[3])
      setRank(readHost(h))
      local assigned, matches = {}, P .. 'matches:' .. h
      for i, m in ipairs(call('ZRANGEBYSCORE', matches, '(0', '+inf', 'LIMIT', 0, ASSIGNED)) do
        assigned[i] = {m, field(m, 'number')}
      end
      local v = call('HMGET', hostKey(h), 'draining', 'patience')
      return {'renewed', tonumber(v[1]), assigned, tonumber(v[2])}
    end

    local function takeSeat(m, h, player)
      local seats = readSeats(m)
      local index = seatIndex(seats, player)
      if index then
        unreserve(m, seats[index])
        seats[index].state = 't'
      else
        local host = readHost(h)
        if freeSeats(host) == 0 or #seats >= PLAYERS then return {'noSeat'} end
        seats[#seats + 1] = {state = 't', player = player}
        use(host, 1, 0)
      end
      writeSeats(m, seats)
      confirm(m, seats)
      return {'done'}
    end

    local function releaseSeat(m, player)
      local seats = readSeats(m)
      local index = seatIndex(seats, player)
      if index then removeSeat(m, seats, index) end
      return {'done'}
    end

    local function resume(m)
      local v = call('HMGET', matchKey(m), 'tick', 'state')
      local players = {}
      for i, seat in ipairs(readSeats(m)) do players[i] = seat.player end
      return {'resumed', v[1] and {v[1], v[2]} or {}, players}
    end

    local function finish(m, result)
      vacate(m)
      for _, seat in ipairs(readSeats(m)) do unreserve(m, seat) end
      call('HSET', matchKey(m), 'seats', '', 'phase', 'finished', 'result', result)
      setDeadline('finished', AFTERLIFE, m)
      return {'done'}
    end

    -- A command about a match: its name, the claim's host and number, and what belongs to it.
    local function aboutMatch(name, h, args)
      local m, host, number, a, b = unpack(args)
      if host ~= h then return {'superseded', placement(m)} end
      if name == 'finish' then
        local v = call('HMGET', matchKey(m), 'phase', 'host', 'number')
        if v[1] == 'finished' and v[2] == h and v[3] == number then return {'done'} end
      end
      local answer = objection(m, h, number)
      if answer then return answer end
      if name == 'takeSeat' then return takeSeat(m, h, a) end
      if name == 'releaseSeat' then return releaseSeat(m, a) end
      if name == 'save' then return save(m, a, b) end
      if name == 'resume' then return resume(m) end
      if name == 'move' then return move(m, h, number, a, b) end
      return finish(m, a)
    end

    local function fromHost(args)
      local h, run, connection, name = args[2], args[3], args[4], args[5]
      local rest = slice(args, 6)
      if name == 'register' then return register(h, run, connection, rest) end
      local v = call('HMGET', hostKey(h), 'run', 'connection')
      if not v[1] then return {'unknownHost'} end
      if v[1] ~= run then return {'replaced'} end
      if v[2] ~= connection then return {'unknownHost'} end
      if name == 'renew' then return renew(h, rest) end
      if name == 'drain' then return drain(h) end
      if name == 'withdraw' then
        removeHost(h)
        return {'done'}
      end
      return aboutMatch(name, h, rest)
    end

    -- The hosts of the same game and version that follow in the order of the ids.
    local function doors(h)
      local game = call('HGET', hostKey(h), 'game')
      if not game then return {'unknownHost'} end
      local ring, records = P .. 'ring:' .. game, {}
      for _, range in ipairs({{'(' .. h, '+'}, {'-', '(' .. h}}) do
        local others = call(
          'ZRANGEBYLEX', ring, range[1], range[2], 'LIMIT', 0, DOORS - #records)
        for _, other in ipairs(others) do
          records[#records + 1] = call('HGET', hostKey(other), 'record')
        end
      end
      return {'doors', records}
    end

    local function matchStatus(m)
      local v = call('HMGET', matchKey(m), 'phase', 'result')
      if not v[1] then return {'refused', 'unknownMatch'} end
      if v[1] == 'finished' then return {'over', v[2]} end
      if v[1] == 'orphaned' then return {'orphaned'} end
      return {'placed', placement(m)}
    end

    local function status()
      local ids, rows = call('ZRANGE', P .. 'leases', 0, -1), {}
      table.sort(ids)
      for i, h in ipairs(ids) do
        local v = call(
          'HMGET', hostKey(h), 'record', 'used', 'matches', 'late', 'processor', 'draining')
        rows[i] = {v[1], tonumber(v[2]), tonumber(v[3]), tonumber(v[4]), tonumber(v[5]),
          tonumber(v[6])}
      end
      return {'status', rows, call('ZCARD', P .. 'orphans'), call('ZCARD', P .. 'finished')}
    end

    redis.register_function('carom_fleet_3', function(keys, args)
      P, now = keys[1], clock()
      sweep()
      local name = args[1]
      if name == 'host' then return fromHost(args) end
      if name == 'drain' then return drain(args[2], args[3]) end
      if name == 'match' then return matchStatus(args[2]) end
      if name == 'place' then return place(args) end
      if name == 'locate' then return locate(args[2], args[3]) end
      if name == 'doors' then return doors(args[2]) end
      return status()
    end)
    """#
}
