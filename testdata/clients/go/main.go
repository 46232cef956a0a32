// Program clients makes two logical calls to the stub through a Go client library,
// as that library does when nobody has configured it, or as its documentation
// shows. It is a module of its own, so that the product does not depend on them.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"
)

// caller makes one logical call and returns when the library gives up or succeeds.
type caller func(ctx context.Context, call string) error

// library is a client library: its module, and how to make a caller for a server.
type library struct {
	module string
	make   func(base string) caller
}

func main() {
	if len(os.Args) != 2 || libraries[os.Args[1]].make == nil {
		fmt.Fprintln(os.Stderr, "usage: STUB=http://127.0.0.1:PORT clients LIBRARY")
		os.Exit(2)
	}
	l := libraries[os.Args[1]]
	fmt.Println("version", version(l.module))
	call := l.make(os.Getenv("STUB"))
	for _, name := range []string{"call-a", "call-b"} {
		ctx, cancel := context.WithTimeout(context.Background(), 80*time.Second)
		err := call(ctx, name)
		cancel()
		fmt.Printf("%s: %.300v\n", name, err)
	}
}

func version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown"
}
