import AirHockey
import Carom
import CaromFleet
import CaromServer

extension NetGame {
  /// The options of a game over the network.
  struct Setup: Sendable {
    /// The player's name.
    var name: String
    /// Whether a computer player takes the place of a person at this computer.
    var bot: Bool
    /// How well the computer plays.
    var strength: Strength
    /// The length of the session in ticks, or nil for no limit. A session with a limit also ends
    /// when its peer leaves.
    var tickLimit: Int?
    /// The number of complete matches after which a host ends the session, or nil for no limit.
    var gameLimit: Int?
    /// Whether to wait for another player when the peer leaves.
    var reopens = true
    /// Whether this side watches a match without playing.
    var isSpectator = false
    /// The number of clients who can play at the table of a host: 1 plays this side, 2 play each
    /// other.
    var clients = 1
    /// Whether a player at this computer takes part in the match.
    var isPlayer: Bool { !isSpectator && clients == 1 }
    /// The number of this table, from 1, if it is one of a host's several tables.
    var table: Int?
    /// What this host answers to monitors, if it runs for weeks.
    var kiosk: Kiosk?
    /// Whether the ticks of this table run on time, if monitors ask for it.
    var health: TickHealth?
    /// The sidecar of Agones to which this host reports; nil if Agones does not run it.
    var agones: AgonesSidecar?
    /// Whether network statistics are displayed every second.
    var showsNetwork = false
    /// The policy that the session's connections must meet.
    var policy = SessionSecurity.Policy.none
    /// A line that the players at this computer should read out to the other players, such as a
    /// join code, or nil if there is nothing to read out.
    var notice: String?
    /// The path of the file to record to, or nil if the session is not recorded.
    var recording: String?
    /// The text that is displayed until a match begins.
    var waiting = "waiting for a player"
    /// How long a host may take to send its first state after it has admitted this player.
    var firstStateLimit = Duration.seconds(5)
    /// The time between two frames while no match is played.
    var waitingFrame = Duration.nanoseconds(16_666_667)
  }
}
