package main

const maxSeen = 100_000

// seen has the last events of this process. In production use a table with webhook-id as its key.
type seen struct {
	ids   map[string]bool
	order []string
}

func (s *seen) has(id string) bool { return s.ids[id] }

func (s *seen) add(id string) {
	if s.ids == nil {
		s.ids = map[string]bool{}
	}
	s.ids[id] = true
	s.order = append(s.order, id)
	if len(s.order) > maxSeen {
		delete(s.ids, s.order[0])
		s.order = s.order[1:]
	}
}
