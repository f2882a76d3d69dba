import Foundation
import GameKit
import GameKitSamples

// A program for tests with several processes:
//   gamekit-peer <name of the game> <name of the player> <number of players>

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[3]) else {
  print("usage: gamekit-peer <game> <player> <number of players>")
  exit(2)
}
GameKitSettings.gameIdentifier = arguments[1]
GameKitSettings.playerName = arguments[2]
let conversation = MatchConversation(players: count) { greetings in
  for greeting in greetings { print(greeting) }
  exit(0)
}
DispatchQueue.main.asyncAfter(deadline: .now() + 40) {
  print("no conversation")
  exit(1)
}
withExtendedLifetime(conversation) { dispatchMain() }
