// Serves 1000 bytes at any path, at all addresses.
//
//	clean_server PORT
package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strconv"
)

const length = 1000 // bytes

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: clean_server PORT")
		os.Exit(1)
	}
	body := bytes.Repeat([]byte("x"), length)
	handler := func(response http.ResponseWriter, request *http.Request) {
		response.Header().Set("Content-Type", "application/octet-stream")
		response.Header().Set("Content-Length", strconv.Itoa(len(body)))
		response.Write(body)
	}
	err := http.ListenAndServe(":"+os.Args[1], http.HandlerFunc(handler))
	fmt.Fprintln(os.Stderr, "clean_server:", err)
	os.Exit(1)
}
