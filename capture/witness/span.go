package witness

// span keeps when exchanges were seen.
type span struct {
	from, to          int64
	silence, silentAt int64
}

// note takes in one exchange. Exchanges come in the order of their ends, roughly:
// the time without any is between what was seen so far and the next start.
func (s *span) note(start, end int64) {
	if s.from == 0 {
		s.from, s.to = start, end
		return
	}
	if start > s.to && start-s.to > s.silence {
		s.silence, s.silentAt = start-s.to, s.to
	}
	s.from, s.to = min(s.from, start), max(s.to, end)
}
