package capture

// HashID returns the number of an id that is no secret, such as an idempotency
// key or a request id (FNV-1a, 64 bits), so that sources can be compared. It is
// never 0, save for an empty id.
func HashID(id []byte) uint64 {
	if len(id) == 0 {
		return 0
	}
	sum := uint64(14695981039346656037)
	for _, c := range id {
		sum = (sum ^ uint64(c)) * 1099511628211
	}
	return max(sum, 1)
}
