// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package programs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/identity"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// plain is the client for health checks without TLS. A connection is not kept:
// the other side may be another process the next time.
var plain = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// AdminClient returns a client for health checks that logs in as the administrator.
func AdminClient(p layout.Paths) (*http.Client, error) {
	ca, err := os.ReadFile(p.Cert(identity.ClusterCA))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s holds no certificate", p.Cert(identity.ClusterCA))
	}
	pair, err := tls.LoadX509KeyPair(p.Cert(identity.AdminCert), p.Key(identity.AdminCert))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}, nil
}

// get returns nil if a GET of the URL is answered with 200.
func get(ctx context.Context, client *http.Client, url string) error {
	_, err := fetch(ctx, client, url)
	return err
}

func fetch(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s: %.200s", url, response.Status, body)
	}
	return body, nil
}

// dial returns nil if the address takes a connection.
func dial(ctx context.Context, network, address string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// NodeReady returns nil if the Node is Ready.
func NodeReady(ctx context.Context, admin *http.Client, server, name string) error {
	body, err := fetch(ctx, admin, server+"/api/v1/nodes/"+name)
	if err != nil {
		return err
	}
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(body, &node); err != nil {
		return err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == "Ready" {
			if c.Status == "True" {
				return nil
			}
			return fmt.Errorf("node %s is not Ready: %s", name, c.Message)
		}
	}
	return errors.New("node " + name + " has no Ready condition")
}
