@testable import CaromProtocol

// What `#expect` compares cannot be the result of a mutating call; these stand in for it.

func nextAction(_ machine: inout Matchmaker) -> MatchmakerAction? { machine.pollAction() }
func nextEvent(_ machine: inout Connection) -> ConnectionEvent? { machine.pollEvent() }
func nextLinkAction(_ machine: inout Connection) -> LinkAction? { machine.pollLinkAction() }
