// Go's net/http: hello FOLDER PLAIN6 PLAIN4 TLS6 TLS4
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
)

func answer(w http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	// One write, so that no line is torn.
	os.Stdout.WriteString(host + " " + r.URL.Path + "\n")
	w.Header().Set("Content-Length", "13")
	fmt.Fprint(w, "hello, world\n")
}

func main() {
	http.HandleFunc("/hello", answer)
	folder, ports := os.Args[1], os.Args[2:]
	failed := make(chan error)
	for at, port := range ports {
		host := []string{"::1", "127.0.0.1"}[at%2]
		end := net.JoinHostPort(host, port)
		go func(secure bool) {
			if secure {
				failed <- http.ListenAndServeTLS(end, folder+"/certificate.pem", folder+"/key.pem", nil)
			} else {
				failed <- http.ListenAndServe(end, nil)
			}
		}(at >= 2)
	}
	fmt.Fprintln(os.Stderr, <-failed)
	os.Exit(1)
}
