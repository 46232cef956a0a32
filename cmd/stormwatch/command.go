package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stormwatch/capture"
	"stormwatch/rules"
)

// called keeps the command that makes a report of the same input again: the flags
// that were given, save those of the screen, and the sources.
func (f *flags) called(cmd *cobra.Command, args []string) {
	words := []string{"stormwatch", "report"}
	if cmd.Name() != "report" {
		words = append(words, "--format", "markdown")
	}
	cmd.Flags().Visit(func(fl *pflag.Flag) {
		if slices.Contains([]string{"fps", "theme", "color", "plain", "ascii"}, fl.Name) {
			return
		}
		values := []string{fl.Value.String()}
		if list, ok := fl.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if fl.Value.Type() == "bool" {
				words = append(words, "--"+fl.Name)
				continue
			}
			words = append(words, "--"+fl.Name, quote(v))
		}
	})
	for _, arg := range args {
		words = append(words, quote(withoutSecret(arg)))
	}
	f.command = capture.HideSecrets(strings.Join(words, " "))
}

// withoutSecret takes the password out of an address.
func withoutSecret(arg string) string {
	if u, err := url.Parse(arg); err == nil && u.User != nil {
		return u.Redacted()
	}
	return arg
}

// quote quotes a word for a POSIX shell where that is needed.
func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// rulesName tells what was judged by, so that two reports can be compared: how
// many rules, from where, and a digest of them.
func rulesName(set *rules.Set, dirs []string) string {
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	ids := map[string]bool{}
	for _, s := range set.Signatures() {
		ids[s.ID] = true
		_ = enc.Encode([]any{s.ID, s.Scope, s.Needs, s.When, s.Parts, s.Severity, s.Mitigations}) // a hash never fails
	}
	for _, m := range set.Mitigations() {
		_ = enc.Encode([]any{m.ID, m.Title})
	}
	from := "built in"
	if len(dirs) > 0 {
		from += " and " + strings.Join(dirs, ", ")
	}
	return fmt.Sprintf("%d signatures and %d mitigations, %s; sha256 %.12x", len(ids), len(set.Mitigations()), from, sum.Sum(nil))
}
