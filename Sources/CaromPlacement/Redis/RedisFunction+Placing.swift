extension RedisFunction {
  /// The commands that choose a host.
  static let placing = #"""
    local function chooseHost(game, regions, elsewhere, seats, excluded)
      local list = {}
      for region in regions:gmatch('%S+') do list[#list + 1] = region end
      if #list == 0 or elsewhere then list[#list + 1] = '' end
      for _, region in ipairs(list) do
        -- Most often the first one has room.
        local first, count = 0, 1
        repeat
          local pool = P .. 'pool:' .. game .. ' ' .. region
          local hosts = call('ZRANGE', pool, first, first + count - 1)
          for _, member in ipairs(hosts) do
            local h = member:sub(1, 32)
            local host = h ~= excluded and readHost(h)
            if host and freeSeats(host) >= seats and host.matches < MATCHES then return host end
          end
          local isEnd = #hosts < count
          first, count = first + count, 16
        until isEnd
      end
      if call('HEXISTS', P .. 'versions', game) == 0 then return nil, 'noSuchVersion' end
      return nil, 'noRoom'
    end

    -- Gives a match to a host, and sets further fields of it.
    local function assign(m, host, last, players, ...)
      local number = text(math.min(math.max(last + 1, now), NUMBERS))
      local seats = {}
      for i, player in ipairs(players) do seats[i] = {state = 'r', player = player} end
      call(
        'HSET', matchKey(m), 'host', host.id, 'number', number, 'phase', 'held', 'seats',
        packSeats(seats), ...)
      setDeadline('unconfirmed', RESERVATION, m)
      host.sequence = host.sequence + 1
      call('ZADD', P .. 'matches:' .. host.id, text(host.sequence), m)
      use(host, #seats, 1)
      return {'placed', m, host.id, number, host.record}
    end

    local function addPlayers(m, players)
      local seats = readSeats(m)
      local all, added = {}, {}
      for i, seat in ipairs(seats) do all[i] = seat.player end
      for _, player in ipairs(players) do
        if not seatIndex(seats, player) then
          all[#all + 1] = player
          added[#added + 1] = player
        end
      end
      if #all > PLAYERS then return {'refused', 'tooManyPlayers'} end
      local v = call('HMGET', matchKey(m), 'phase', 'game', 'regions', 'number', 'host')
      if v[1] == 'finished' then return {'refused', 'matchIsOver'} end
      if v[1] == 'orphaned' then
        local host, refusal = chooseHost(v[2], v[3], true, #all)
        if not host then return {'refused', refusal} end
        call('ZREM', P .. 'orphans', m)
        return assign(m, host, tonumber(v[4]), all)
      end
      local host = readHost(v[5])
      if freeSeats(host) < #added then return {'refused', 'noRoom'} end
      detachReservations(m, seats)
      call('ZADD', P .. 'unconfirmed', 'XX', text(now + RESERVATION), m)
      for _, player in ipairs(added) do seats[#seats + 1] = {state = 'w', player = player} end
      for _, player in ipairs(players) do reserve(m, seats[seatIndex(seats, player)]) end
      writeSeats(m, seats)
      use(host, #added, 0)
      return {'placed', placement(m)}
    end

    local function place(args)
      local m, game, regions, key, players = args[2], args[3], args[4], args[5], slice(args, 6)
      if key ~= '' then
        for _, keys in ipairs(call('HKEYS', P .. 'keys')) do
          if keys ~= '' and not keys:find(key, 1, true) then return {'refused', 'otherKey'} end
        end
      end
      local known = field(m, 'game')
      if known and known ~= game then return {'refused', 'otherVersion'} end
      if known then return addPlayers(m, players) end
      local host, refusal = chooseHost(game, regions, false, #players)
      if not host then return {'refused', refusal} end
      return assign(m, host, 0, players, 'game', game, 'regions', regions)
    end

    local function locate(m, player)
      local v = call('HMGET', matchKey(m), 'phase', 'result')
      if not v[1] then return {'refused', 'unknownMatch'} end
      if v[1] == 'finished' then return {'over', v[2]} end
      return addPlayers(m, {player})
    end

    local function save(m, tick, state)
      local saved = field(m, 'tick')
      if saved and tonumber(saved) > tonumber(tick) then return {'outdated'} end
      call('HSET', matchKey(m), 'tick', tick, 'state', state)
      return {'done'}
    end

    local function move(m, h, number, tick, state)
      local v = call('HMGET', matchKey(m), 'game', 'regions')
      local players, seats = {}, readSeats(m)
      for i, seat in ipairs(seats) do players[i] = seat.player end
      local other, refusal = chooseHost(v[1], v[2], true, #players, h)
      if not other then return {'refused', refusal} end
      if tick then save(m, tick, state) end
      for _, seat in ipairs(seats) do unreserve(m, seat) end
      vacate(m)
      return assign(m, other, tonumber(number), players)
    end
    """#
}
