package account

import (
	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// getSettings answers what holds for the effective partition.
func getSettings(c *tenant.Call, st *storage.Store) (*pb.Reply, error) {
	s, err := c.Org.Residents.Settings(st, c.Part)
	if err != nil {
		return nil, err
	}
	return settingsReply(s), nil
}

func settingsReply(s partition.Settings) *pb.Reply {
	return accountReply(&pb.AccountResult{Result: &pb.AccountResult_Settings{Settings: &pb.SettingsInfo{
		QualityMode: string(s.Quality), LearnModeDefault: s.Learn,
	}}})
}

// patchSettings changes the fields that the patch names.
func (o *Profile) patchSettings(c *tenant.Call, patch *pb.Settings) {
	if patch.QualityMode != nil && !partition.KnownQuality(partition.Quality(patch.GetQualityMode())) {
		c.Refuse(tenant.Invalid("qualityMode", "must be fast, balanced or thorough"))
		return
	}
	o.changeSettings(c, "settings.update", func(ch *commit.Change, key storage.Key) (*pb.Settings, error) {
		rec := &pb.Settings{}
		err := o.WithStore(func(st *storage.Store) error {
			_, err := st.Get(key, rec)
			return err
		})
		if patch.QualityMode != nil {
			rec.QualityMode = patch.QualityMode
		}
		if patch.LearnModeDefault != nil {
			rec.LearnModeDefault = patch.LearnModeDefault
		}
		rec.UpdatedMs = clock.Millis(o.System.Clock.Now())
		ch.Put(key, rec)
		return rec, err
	})
}

// resetSettings goes back to the defaults, also where they will change.
func (o *Profile) resetSettings(c *tenant.Call) {
	o.changeSettings(c, "settings.reset", func(ch *commit.Change, key storage.Key) (*pb.Settings, error) {
		ch.Delete(key)
		return &pb.Settings{}, nil
	})
}

// changeSettings commits a change of settings, one of a partition at a time, and answers what holds then.
func (o *Profile) changeSettings(c *tenant.Call, action string,
	change func(*commit.Change, storage.Key) (*pb.Settings, error),
) {
	o.Exclusive(tenant.SettingsLock(c.Part.ID), func(release func()) {
		if !o.StillInUse(c) {
			release()
			return
		}
		ch := commit.New(o.Store)
		rec, err := change(ch, c.Part.Space.Key(storage.TableSettings))
		ch.Audit(c.AuditOf(action, ""))
		s := partition.SettingsFrom(rec)
		r := settingsReply(s)
		if err == nil {
			err = c.Idempotency.Record(ch.Batch, r)
		}
		if err != nil {
			release()
			c.Fail(err)
			return
		}
		o.Committer.SubmitChange(ch, func(err error) {
			if err == nil {
				c.Org.Residents.PutSettings(c.Part, s)
			}
			release()
			if err != nil {
				c.Fail(err)
				return
			}
			c.Reply(r)
		})
	})
}
