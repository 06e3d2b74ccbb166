// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

func TestServer(t *testing.T) {
	server, err := Listen(t.Context(), Config{ListenAddr: "127.0.0.1:0", NodeName: "host-1-sandboxd"})
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(server.pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	url := fmt.Sprintf("https://127.0.0.1:%d/containerLogs/ns/pod/agent", server.Port())
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != http.StatusNotImplemented {
		t.Errorf("answer %d %q, error %v", response.StatusCode, body, err)
	}

	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run ended with %v", err)
	}
	if response, err := client.Get(url); err == nil {
		response.Body.Close()
		t.Error("the address is still served")
	}
}

func TestListenOnATakenAddress(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = Listen(t.Context(), Config{ListenAddr: taken.Addr().String(), NodeName: "n"})
	var address *AddressError
	if !errors.As(err, &address) || errors.Unwrap(address) == nil {
		t.Errorf("error = %v, want one about the address", err)
	}
}
