// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inventory publishes what the node's sandboxd runs and can deliver, as one
// NodeInventory object named after the node.
//
// The [Publisher] has three timers. start is a random delay of at most five seconds
// before the first cycle, so that a fleet restarted together does not write together.
// tick begins each cycle one interval, plus at most a tenth, after the previous cycle
// began. deadline bounds a cycle: the shorter of the interval and 30 seconds. The
// guarantees, with the timer behind each:
//
//  1. The first cycle runs soon after the start, without waiting for an interval.
//     (start)
//  2. Each interval has at most one apply, and a cycle makes the same four requests
//     whatever the number of sandboxes: two reads from sandboxd, one read of the
//     Node, one apply. (tick)
//  3. A publication has sandboxd's answers of that cycle, and also every claim of the
//     table that sandboxd's list lacks, until the claim is confirmed gone. Only for
//     such a claim are the template, phase and claim time taken from an earlier list.
//     Fields of this package that someone else changed are restored by the next
//     publication, whatever version of the object the API server has; fields of
//     others stay. (tick)
//  4. A failed read is not an empty answer: unless sandboxd answered both reads and
//     the Node was read, nothing is applied. The last good copy stays, and its
//     publishedAt shows its age. The next cycle tries again. (tick)
//  5. The object is owned, by UID, by the Node of the node's name in that cycle. A
//     re-created Node becomes the owner in the next cycle, which also restores an
//     object that was garbage-collected with the old Node. Nothing else removes the
//     object: no restart, no failed read, and this package never deletes. (tick)
//  6. An apply is never larger than [MaxBytes]. Entries that do not fit are left out
//     from the end; totalEntries includes them, and the log reports it.
//  7. The same answers give the same object, except for publishedAt: entries are
//     ordered by name and id, pools by key.
//  8. A peer that hangs costs one cycle (deadline); no failure ends [Publisher.Run].
//  9. A state is logged when it begins, not in every cycle: published, truncated,
//     failed, and failed in another way.
package inventory
