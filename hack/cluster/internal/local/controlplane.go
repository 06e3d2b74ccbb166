// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
)

// By default the scheduler binds 50 Pods a second and the controllers delete 20, for
// the good of an API server that others share. Here it would be all that a burst shows.
const (
	unlimited      = "--kube-api-qps=5000"
	unlimitedBurst = "--kube-api-burst=5000"
)

func apiServerURL(own netip.Addr) string {
	return "https://" + netip.AddrPortFrom(own, apiServerPort).String()
}

// apiServer advertises the bridge's address, so that the Service "kubernetes"
// leads hosts to it.
func apiServer(p paths, binary string, own netip.Addr, clients tlsClients) component {
	return component{
		name:   "kube-apiserver",
		inputs: []string{p.config(auditPolicyName)},
		argv: []string{
			binary,
			"--audit-policy-file=" + p.config(auditPolicyName),
			"--audit-log-path=" + p.auditLog(),
			"--bind-address=" + own.String(),
			"--advertise-address=" + own.String(),
			"--secure-port=" + strconv.Itoa(apiServerPort),
			"--service-cluster-ip-range=" + serviceCIDR,
			"--etcd-servers=https://" + own.String() + ":" + etcdPort,
			"--etcd-cafile=" + p.cert(etcdCA),
			"--etcd-certfile=" + p.cert(etcdClientCert),
			"--etcd-keyfile=" + p.key(etcdClientCert),
			"--tls-cert-file=" + p.cert(controlPlaneCert),
			"--tls-private-key-file=" + p.key(controlPlaneCert),
			"--client-ca-file=" + p.cert(clusterCA),
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--allow-privileged",
			"--kubelet-client-certificate=" + p.cert(kubeletClientCert),
			"--kubelet-client-key=" + p.key(kubeletClientCert),
			"--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + p.key(serviceAccountKey),
			"--service-account-signing-key-file=" + p.key(serviceAccountKey),
			"--requestheader-client-ca-file=" + p.cert(frontProxyCA),
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + p.cert(frontProxyCert),
			"--proxy-client-key-file=" + p.key(frontProxyCert),
			// There is no kube-proxy in the machine's own namespace.
			"--enable-aggregator-routing",
		},
		healthy: func(ctx context.Context) error { return get(ctx, clients.admin, apiServerURL(own)+"/readyz") },
	}
}

func controllerManager(p paths, binary string, own netip.Addr, clients tlsClients) component {
	return component{
		name:   managerCert,
		inputs: []string{p.config(managerCert)},
		argv: []string{
			binary,
			"--kubeconfig=" + p.config(managerCert),
			"--bind-address=" + own.String(),
			"--tls-cert-file=" + p.cert(controlPlaneCert),
			"--tls-private-key-file=" + p.key(controlPlaneCert),
			"--leader-elect=false",
			"--use-service-account-credentials",
			"--root-ca-file=" + p.cert(clusterCA),
			"--service-account-private-key-file=" + p.key(serviceAccountKey),
			"--cluster-signing-cert-file=" + p.cert(clusterCA),
			"--cluster-signing-key-file=" + p.key(clusterCA),
			unlimited, unlimitedBurst,
		},
		healthy: func(ctx context.Context) error {
			return get(ctx, clients.admin, fmt.Sprintf("https://%s:10257/healthz", own))
		},
	}
}

func scheduler(p paths, binary string, own netip.Addr, clients tlsClients) component {
	return component{
		name:   schedulerCert,
		inputs: []string{p.config(schedulerCert)},
		argv: []string{
			binary,
			"--kubeconfig=" + p.config(schedulerCert),
			"--bind-address=" + own.String(),
			"--tls-cert-file=" + p.cert(controlPlaneCert),
			"--tls-private-key-file=" + p.key(controlPlaneCert),
			"--leader-elect=false",
			unlimited, unlimitedBurst,
		},
		healthy: func(ctx context.Context) error {
			return get(ctx, clients.admin, fmt.Sprintf("https://%s:10259/healthz", own))
		},
	}
}
