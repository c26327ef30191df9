package account

import (
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// teamKeys gives the keys of all members, so that an admin sees whose keys there are and what a key of the trail is
// called; or those of them that are named, in their order. The sandbox's are nobody's, and have a list of their own.
func (o *Keys) teamKeys(r storage.Reader, op *pb.ListTeamKeys) (*pb.Reply, error) {
	list := &pb.TeamKeyList{}
	reply := accountReply(&pb.AccountResult{Result: &pb.AccountResult_TeamKeys{TeamKeys: list}})
	for _, id := range op.GetIds() {
		hash, err := pb.ParseKeyHash(id)
		if err != nil {
			continue // the id of no key
		}
		k, err := o.readKey(r, hash)
		if err != nil {
			return nil, err
		}
		if k != nil && !k.GetSandbox() {
			list.Keys = append(list.Keys, k)
		}
	}
	if len(op.GetIds()) > 0 {
		return reply, nil
	}
	// Member by member, and of each in the order in which they were made: no use of a key changes that.
	all, kind := o.Space.Prefix(storage.TableKeyByUser), tenant.CursorKind{List: "team keys"}
	keys, next, p, err := tenant.PageOfKeys(&o.View, r, all, kind, op.GetPage(), tenant.MaxRecordsPerPage,
		func(item storage.Item) (*pb.Key, bool, error) {
			k, err := o.keyAt(r, item, false)
			return k, k != nil, err // else removed since the scan began
		})
	if p != nil {
		return tenant.Refuse(p), nil
	}
	list.Keys, list.NextCursor = keys, next
	return reply, err
}
