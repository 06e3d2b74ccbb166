// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/util/cert"
)

func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey("configured", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, otherKey, err := cert.GenerateSelfSignedCertKey("other", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	crt, key := file("tls.crt", certPEM), file("tls.key", keyPEM)
	link := filepath.Join(dir, "link.crt")
	if err := os.Symlink(crt, link); err != nil {
		t.Fatal(err)
	}
	other, garbage, empty := file("other.key", otherKey), file("garbage.crt", []byte("no PEM")), file("empty.key", nil)
	absent := filepath.Join(dir, "absent")

	for name, tc := range map[string]struct {
		cert, key string
		selfSign  bool
		fails     bool
	}{
		"neither set":              {selfSign: true},
		"only the certificate":     {cert: crt, selfSign: true},
		"only the key":             {key: key, selfSign: true},
		"certificate is absent":    {cert: absent, key: key, selfSign: true},
		"key is absent":            {cert: crt, key: absent, selfSign: true},
		"certificate is a folder":  {cert: dir, key: key, selfSign: true},
		"key is a device":          {cert: crt, key: os.DevNull, selfSign: true},
		"a pair":                   {cert: crt, key: key},
		"a pair through a link":    {cert: link, key: key},
		"a key of another pair":    {cert: crt, key: other, fails: true},
		"a certificate of garbage": {cert: garbage, key: key, fails: true},
		"an empty key":             {cert: crt, key: empty, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			pair, err := certificate(t.Context(), Config{CertFile: tc.cert, KeyFile: tc.key, NodeName: "host-1-sandboxd", NodeIP: net.ParseIP("192.0.2.7")})
			if tc.fails {
				var unusable *CertificateError
				if !errors.As(err, &unusable) || errors.Unwrap(unusable) == nil || !strings.Contains(err.Error(), tc.cert) || !strings.Contains(err.Error(), tc.key) {
					t.Fatalf("error = %v, want one about the certificate that names both files", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			leaf, err := x509.ParseCertificate(pair.Certificate[0])
			if err != nil {
				t.Fatal(err)
			}
			if !tc.selfSign {
				if !slices.Equal(leaf.DNSNames, []string{"configured"}) {
					t.Fatalf("served %v, want the configured certificate", leaf.DNSNames)
				}
				return
			}
			for _, host := range []string{"host-1-sandboxd", "192.0.2.7", "127.0.0.1"} {
				if err := leaf.VerifyHostname(host); err != nil {
					t.Error(err)
				}
			}
			if len(leaf.DNSNames) != 1 || len(leaf.IPAddresses) != 2 {
				t.Errorf("names = %v %v, want those three only", leaf.DNSNames, leaf.IPAddresses)
			}
		})
	}
}

func TestSelfSignedWithoutNodeIP(t *testing.T) {
	pair, err := certificate(t.Context(), Config{NodeName: "host-1-sandboxd"})
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(leaf.IPAddresses) != 1 || !leaf.IPAddresses[0].Equal(net.IPv4(127, 0, 0, 1)) {
		t.Errorf("IP names = %v, want 127.0.0.1 only", leaf.IPAddresses)
	}
}

func TestTLSVersions(t *testing.T) {
	pair, err := certificate(t.Context(), Config{NodeName: "n"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		version uint16
		ok      bool
	}{
		"TLS 1.1 is refused":  {tls.VersionTLS11, false},
		"TLS 1.2 is accepted": {tls.VersionTLS12, true},
		"TLS 1.3 is accepted": {tls.VersionTLS13, true},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := net.Pipe()
			defer client.Close()
			defer server.Close()
			go func() { _ = tls.Server(server, tlsConfig(pair)).HandshakeContext(t.Context()) }()
			asked := false
			conn := tls.Client(client, &tls.Config{
				InsecureSkipVerify: true, MinVersion: tc.version, MaxVersion: tc.version, //nolint:gosec // the server is what is tested
				GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					asked = true
					return &tls.Certificate{}, nil
				},
			})
			if err := conn.HandshakeContext(t.Context()); (err == nil) != tc.ok {
				t.Errorf("handshake: %v, want success %v", err, tc.ok)
			}
			if asked {
				t.Error("a client certificate was requested")
			}
		})
	}
}
