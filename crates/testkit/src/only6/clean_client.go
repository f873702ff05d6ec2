// Fetches a URL with net/http, which races the addresses of its host (RFC 8305).
//
//	clean_client URL
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

const (
	timeout = 5 * time.Second
	length  = 1000 // bytes
)

func fetch(url string) error {
	// No proxy, whatever the environment says.
	transport := &http.Transport{DialContext: (&net.Dialer{Timeout: timeout}).DialContext}
	client := &http.Client{Transport: transport, Timeout: 2 * timeout}
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || len(body) != length {
		return fmt.Errorf("status %d, %d bytes", response.StatusCode, len(body))
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: clean_client URL")
		os.Exit(1)
	}
	if err := fetch(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "clean_client:", err)
		os.Exit(1)
	}
}
