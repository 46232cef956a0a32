package detect

import "testing"

// A page is what a list is asked for by; other parameters are none.
func TestPages(t *testing.T) {
	for target, want := range map[string]bool{
		"/search?from=250": true, "/s?q=a&page=3&x=1": true, "/s?x=1&cursor=abc": true, "/s?page_token=": true, "/odata?$skip=10": true,
		"/search": false, "/search?q=page=3": false, "/page=3": false, "/s?pages=3": false, "/s?page": false, "?": false, "": false, "/s?a=b&&=": false,
	} {
		if pages([]byte(target)) != want {
			t.Errorf("%s: want %v", target, want)
		}
	}
}
