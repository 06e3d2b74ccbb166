// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"
)

// selfSignedFor is how long a self-signed certificate is valid. It is generated at every
// start and kept in memory only, so it must outlast the process.
const selfSignedFor = 10 * 365 * 24 * time.Hour

// CertificateError means that the configured files cannot be loaded as a key pair.
type CertificateError struct{ Err error }

// Error implements error.
func (e *CertificateError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *CertificateError) Unwrap() error { return e.Err }

// certificate returns the serving certificate. If both files are set and regular, the
// pair is loaded. Otherwise a self-signed certificate is generated for the node's name,
// its IP if it has one, and 127.0.0.1; the log has the reason.
func certificate(ctx context.Context, c Config) (tls.Certificate, error) {
	reason := unusable(c.CertFile, c.KeyFile)
	if reason == "" {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return tls.Certificate{}, &CertificateError{fmt.Errorf("load the certificate %q and its key %q: %w", c.CertFile, c.KeyFile, err)}
		}
		return pair, nil
	}
	klog.FromContext(ctx).Info("Serving a self-signed certificate", "reason", reason)

	ips := []net.IP{net.IPv4(127, 0, 0, 1)}
	if c.NodeIP != nil {
		ips = append(ips, c.NodeIP)
	}
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{
		Host: c.NodeName, AlternateIPs: ips, MaxAge: selfSignedFor,
	})
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a self-signed certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the self-signed certificate: %w", err)
	}
	return pair, nil
}

// unusable returns why the files cannot be a key pair; empty if they can. Links are
// followed, because a mounted Secret consists of them.
func unusable(certFile, keyFile string) string {
	switch {
	case certFile == "" && keyFile == "":
		return "no certificate is configured"
	case certFile == "":
		return "a key is configured without a certificate"
	case keyFile == "":
		return "a certificate is configured without a key"
	}
	for _, f := range []string{certFile, keyFile} {
		info, err := os.Stat(f)
		if err != nil {
			return err.Error()
		}
		if !info.Mode().IsRegular() {
			return f + " is not a regular file"
		}
	}
	return ""
}

func tlsConfig(pair tls.Certificate) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   tls.VersionTLS12,
		ClientAuth:   tls.NoClientCert,
	}
}
