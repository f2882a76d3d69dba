extension RedisFunction {
  /// The commands that choose a host.
  static let placing = #"""
    local function chooseHost(game, regions, elsewhere, count, excluded)
      if call('HEXISTS', P .. 'versions', game) == 0 then return nil, 'noSuchVersion' end
      local list = {}
      for region in regions:gmatch('%S+') do list[#list + 1] = region end
      if #list == 0 or elsewhere then list[#list + 1] = '' end
      for _, region in ipairs(list) do
        local first = 0
        repeat
          local pool = P .. 'pool:' .. game .. ' ' .. region
          local hosts = call('ZRANGE', pool, first, first + 15)
          for _, h in ipairs(hosts) do
            if h ~= excluded and freeSeats(h) >= count
              and call('SCARD', P .. 'matches:' .. h) < MATCHES then return h end
          end
          first = first + 16
        until #hosts < 16
      end
      return nil, 'noRoom'
    end

    local function assign(m, h, last, players)
      local number = math.min(math.max(last + 1, now), NUMBERS)
      call('HSET', matchKey(m), 'host', h, 'number', text(number), 'phase', 'held')
      local seats = {}
      for i, player in ipairs(players) do
        seats[i] = {player = player}
        reserve(m, seats[i])
      end
      writeSeats(m, seats)
      call('ZREM', P .. 'orphans', m)
      call('ZADD', P .. 'unconfirmed', text(now + RESERVATION), m)
      call('SADD', P .. 'matches:' .. h, m)
      call('ZADD', P .. 'assigned:' .. h, call('INCR', P .. 'sequence'), m)
      use(h, #seats)
      return {'placed', placement(m)}
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
        local h, refusal = chooseHost(v[2], v[3], true, #all)
        if not h then return {'refused', refusal} end
        return assign(m, h, tonumber(v[4]), all)
      end
      if freeSeats(v[5]) < #added then return {'refused', 'noRoom'} end
      call('ZADD', P .. 'unconfirmed', 'XX', text(now + RESERVATION), m)
      for _, player in ipairs(added) do seats[#seats + 1] = {state = 'w', player = player} end
      for _, player in ipairs(players) do reserve(m, seats[seatIndex(seats, player)]) end
      writeSeats(m, seats)
      use(v[5], #added)
      return {'placed', placement(m)}
    end

    local function place(args)
      local m, game, regions = args[1], args[2], args[3]
      local players = slice(args, 4)
      local known = field(m, 'game')
      if known and known ~= game then return {'refused', 'otherVersion'} end
      if known then return addPlayers(m, players) end
      local h, refusal = chooseHost(game, regions, false, #players)
      if not h then return {'refused', refusal} end
      call('HSET', matchKey(m), 'game', game, 'regions', regions, 'played', '0')
      return assign(m, h, 0, players)
    end

    local function locate(args)
      local v = call('HMGET', matchKey(args[1]), 'phase', 'result')
      if not v[1] then return {'refused', 'unknownMatch'} end
      if v[1] == 'finished' then return {'over', v[2]} end
      return addPlayers(args[1], {args[2]})
    end

    local function save(m, tick, state)
      local saved = field(m, 'tick')
      if saved and tonumber(saved) > tonumber(tick) then return {'outdated'} end
      call('HSET', matchKey(m), 'tick', tick, 'state', state)
      return {'done'}
    end

    local function move(m, h, number, tick, state)
      local v = call('HMGET', matchKey(m), 'game', 'regions')
      local players = {}
      for i, seat in ipairs(readSeats(m)) do players[i] = seat.player end
      local other, refusal = chooseHost(v[1], v[2], true, #players, h)
      if not other then return {'refused', refusal} end
      if tick then save(m, tick, state) end
      vacate(m)
      return assign(m, other, tonumber(number), players)
    end
    """#
}
