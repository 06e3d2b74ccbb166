// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestConditionOfTheStatus(t *testing.T) {
	for state, want := range map[State]metav1.Condition{
		Unknown:      {Status: metav1.ConditionUnknown, Reason: "NotReadYet"},
		Accepted:     {Status: metav1.ConditionTrue, Reason: "TableBelongsHere"},
		OtherCluster: {Status: metav1.ConditionFalse, Reason: "OtherCluster"},
		OtherHost:    {Status: metav1.ConditionFalse, Reason: "OtherHost"},
	} {
		s := Status{State: state}
		want.Type, want.Message = "ClaimsTableAccepted", s.String()
		if got := s.Condition(); got != want {
			t.Errorf("%s: condition %+v, want %+v", state, got, want)
		}
	}
}
