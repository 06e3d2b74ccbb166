// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcontract_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

func TestOnlyPersistentVolumesAreRefused(t *testing.T) {
	scratch := corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	for name, tc := range map[string]struct {
		source corev1.VolumeSource
		claim  string
		served bool
	}{
		"claim":           {corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-box"}}, "data-box", false},
		"NFS":             {corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}, "", false},
		"iSCSI":           {corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{}}, "", false},
		"Fibre Channel":   {corev1.VolumeSource{FC: &corev1.FCVolumeSource{}}, "", false},
		"empty directory": {scratch.VolumeSource, "", true},
		"scratch claim":   {corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}, "", true},
		"inline CSI":      {corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{}}, "", true},
		"token":           {corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}, "", true},
		"Secret":          {corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}, "", true},
		"ConfigMap":       {corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}, "", true},
		"host path":       {corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}, "", true},
		"of a later API":  {corev1.VolumeSource{}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podWith(nil)
			pod.Spec.Volumes = []corev1.Volume{scratch, {Name: "data", VolumeSource: tc.source}}
			var want []corev1.Volume
			if !tc.served {
				want = pod.Spec.Volumes[1:]
			}
			if diff := cmp.Diff(want, podcontract.PersistentVolumes(pod.Spec.Volumes)); diff != "" {
				t.Errorf("persistent volumes (-want +got):\n%s", diff)
			}
			request, err := podcontract.ClaimRequest(pod)
			if tc.served {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var refused *podcontract.PersistentVolumeError
			if !errors.As(err, &refused) || refused.Volume != "data" || refused.Claim != tc.claim || request != (sandboxd.ClaimRequest{}) {
				t.Fatalf("request %+v, error %v", request, err)
			}
			if text := err.Error(); !strings.HasPrefix(text, "volume data") || !strings.Contains(text, tc.claim) || strings.Contains(text, "()") {
				t.Errorf("error %q", text)
			}
		})
	}
}
