/// The function that a Redis server of version 7 runs for each command of a fleet's directory. It
/// keeps the rules that `MemoryDirectory` keeps.
///
/// Redis runs one function at a time, so a command is carried out as a whole or not at all. Nothing
/// depends on Redis's own expiry: each call begins by ending the leases, claims, reservations and
/// matches whose time has come by the server's clock.
package enum RedisFunction {
  /// The name of the function. The number is that of the format of the data: it changes with every
  /// change that hosts of different versions would not agree on.
  package static let name = "carom_fleet_3"

  /// How the function has the server carry out its own commands.
  static let caller = #"""
    -- As redis.call, but an error names the command, which may be one that the user may not use.
    local function call(name, ...)
      local answer = redis.pcall(name, ...)
      if type(answer) == 'table' and answer.err then
        error({err = answer.err .. ' (' .. name .. ')'})
      end
      return answer
    end
    """#

  /// How the function reads the server's clock, in milliseconds since the beginning of 1970 (UTC).
  static let serverClock = #"""
    local function clock()
      local time = call('TIME')
      return time[1] * 1000 + math.floor(time[2] / 1000)
    end
    """#

  /// The text of the library with the function, for `FUNCTION LOAD REPLACE`.
  package static let library = library(clock: serverClock)

  /// The text of the library with another clock, for tests and exact counts.
  package static func library(clock: String) -> String {
    let parts = [caller, clock, state, placing, registration, hosts]
    return (["#!lua name=\(name)"] + parts).joined(separator: "\n")
  }
}
