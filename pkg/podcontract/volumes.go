// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcontract

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// PersistentVolumeError means that a Pod has a volume whose files outlive the Pod. A
// microVM mounts no volumes, so the files would be lost with it. No claim is made for the
// Pod.
type PersistentVolumeError struct {
	// Volume is the volume's name in the Pod.
	Volume string
	// Claim is the PersistentVolumeClaim that the volume names; empty for other kinds.
	Claim string
}

// Error implements error.
func (e *PersistentVolumeError) Error() string {
	claim := ""
	if e.Claim != "" {
		claim = fmt.Sprintf(" (PersistentVolumeClaim %s)", e.Claim)
	}
	return fmt.Sprintf("volume %s%s: a microVM mounts no volumes, so its files would be lost; remove the volume, or run the pod on another node", e.Volume, claim)
}

// PersistentVolumes returns the volumes whose files outlive the Pod, without the others:
// those give a container its input or scratch space, or belong to the host.
func PersistentVolumes(volumes []corev1.Volume) []corev1.Volume {
	var persistent []corev1.Volume
	for _, v := range volumes {
		if v.PersistentVolumeClaim != nil || v.NFS != nil || v.ISCSI != nil || v.FC != nil {
			persistent = append(persistent, v)
		}
	}
	return persistent
}

// checkVolumes returns a [*PersistentVolumeError] for the Pod's first persistent volume.
func checkVolumes(pod *corev1.Pod) error {
	persistent := PersistentVolumes(pod.Spec.Volumes)
	if len(persistent) == 0 {
		return nil
	}
	e := &PersistentVolumeError{Volume: persistent[0].Name}
	if claim := persistent[0].PersistentVolumeClaim; claim != nil {
		e.Claim = claim.ClaimName
	}
	return e
}
