// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"time"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// lifetime is how long a certificate is valid; a cluster is not meant to get
// that old.
const lifetime = 10 * 365 * 24 * time.Hour

// leaf describes a certificate that is not an authority's.
type leaf struct {
	// name is the file name without its ending.
	name   string
	user   string
	groups []string
	dns    []string
	ips    []net.IP
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// ensureAuthority loads the authority of that name, or makes it.
func ensureAuthority(p layout.Paths, name string) (*authority, error) {
	pair, err := tls.LoadX509KeyPair(p.Cert(name), p.Key(name))
	if err == nil {
		key, ok := pair.PrivateKey.(crypto.Signer)
		if !ok {
			return nil, fmt.Errorf("%s can not sign", p.Key(name))
		}
		return &authority{cert: pair.Leaf, key: key}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificate(pkix.Name{CommonName: "vk-sandbox-" + name})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	a := &authority{cert: template, key: key}
	return a, a.sign(p, name, template, key)
}

// ensure makes a certificate unless it is there.
func (a *authority) ensure(p layout.Paths, l leaf) error {
	if _, err := os.Stat(p.Cert(l.name)); err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := certificate(pkix.Name{CommonName: l.user, Organization: l.groups})
	template.DNSNames, template.IPAddresses = l.dns, l.ips
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(l.ips) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	return a.sign(p, l.name, template, key)
}

// certificate returns what all certificates have in common. The start lies in
// the past, for clocks that do not agree.
func certificate(subject pkix.Name) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		Subject: subject, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime),
	}
}

// sign writes the key, and last the certificate, by whose presence the pair is
// taken for whole.
func (a *authority) sign(p layout.Paths, name string, template *x509.Certificate, key *ecdsa.PrivateKey) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("sign the certificate %s: %w", name, err)
	}
	if err := writeKey(p.Key(name), key); err != nil {
		return err
	}
	return cluster.WriteFile(p.Cert(name), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return cluster.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}
